# Prints to both streams.
import sys


def double(x):
    print("to stdout")
    print("to stderr", file=sys.stderr)
    return x * 2
