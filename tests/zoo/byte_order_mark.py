# Begins with a byte order mark.


def double(x):
    return x * 2
