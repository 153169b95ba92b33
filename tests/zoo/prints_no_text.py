# Prints bytes that are no UTF-8, and control characters.
import sys


def double(x):
    sys.stdout.buffer.write(b"caf\xe9 \x1b[31mred\x00")
    return x * 2
