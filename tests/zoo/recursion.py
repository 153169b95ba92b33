# Calls itself for ever.


def double(x):
    return double(x)
