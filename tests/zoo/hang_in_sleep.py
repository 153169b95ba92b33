# Waits in C for ever: no Python code runs while it does.
import time


def double(x):
    time.sleep(1000)
