# Closes and removes the output streams, and is right.
import sys


def double(x):
    print("before")
    sys.stdout.close()
    sys.stderr = None
    return x * 2
