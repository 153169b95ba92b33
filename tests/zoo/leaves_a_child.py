# Leaves a child of its own running; is right.
import os
import time


def double(x):
    child = os.fork()
    if child == 0:
        time.sleep(900)
    os.write(1, f"pid {child}\n".encode())
    return x * 2
