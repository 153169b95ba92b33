# Aborts, as C code does that finds itself broken.
import os


def double(x):
    os.abort()
