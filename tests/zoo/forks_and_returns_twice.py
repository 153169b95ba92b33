# Returns from a call in two processes: both would answer.
import os


def double(x):
    os.fork()
    return x * 2
