# Prints a line without flushing it, then dies: Python's buffer dies with it, the line before does not.
import os


def double(x):
    print("flushed", flush=True)
    os._exit(1)
