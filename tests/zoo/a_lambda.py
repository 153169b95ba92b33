# Is a lambda, which is a function.
double = lambda x: x * 2
