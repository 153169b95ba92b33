# Takes its parameter by position alone.


def double(x, /):
    return x * 2
