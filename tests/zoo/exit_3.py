# Ends its process with a code of its own.
import os


def double(x):
    os._exit(3)
