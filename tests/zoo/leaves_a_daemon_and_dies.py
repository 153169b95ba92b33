# Leaves a process behind and dies at once.
import os
import time


def double(x):
    child = os.fork()
    if child == 0:
        os.setsid()
        time.sleep(900)
    os.write(1, f"pid {child}\n".encode())
    os._exit(1)
