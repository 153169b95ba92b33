# Is a number.
double = 2
