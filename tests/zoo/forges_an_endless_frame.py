# Announces a frame of all the bytes there are.
import os
import time


def double(x):
    os.write(4, b"\xff" * 8)
    time.sleep(900)
