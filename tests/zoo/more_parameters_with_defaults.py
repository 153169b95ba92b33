# Has a second parameter with a default: it can be called as it is asked for.


def double(x, factor=2):
    return x * factor
