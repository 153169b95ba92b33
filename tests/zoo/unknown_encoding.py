# -*- coding: klingon -*- Names an encoding that nobody knows.


def double(x):
    return x * 2
