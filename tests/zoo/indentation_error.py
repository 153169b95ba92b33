# Indents nothing.


def double(x):
return x * 2
