# Ends the program politely, at import, like a script.
import sys


def double(x):
    return x * 2


sys.exit()
