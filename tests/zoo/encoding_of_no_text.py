# coding: rot13 is an encoding that Python knows, and that makes no text of bytes.


def double(x):
    return x * 2
