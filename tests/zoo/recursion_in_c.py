# Calls itself for ever with a limit that the stack cannot hold.
import sys


def double(x):
    sys.setrecursionlimit(10**9)
    return repr_of(Nested())


class Nested:
    def __repr__(self):
        return repr([self])


def repr_of(value):
    return repr(value)
