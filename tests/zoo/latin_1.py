# -*- coding: latin-1 -*- Is written in Latin-1 and says so.


def double(x):
    print("café")
    return x * 2
