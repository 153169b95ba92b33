# Leaves a process behind, in a session of its own, that would live for a quarter of an hour; is right.
import os
import time


def double(x):
    if os.fork() == 0:
        os.setsid()
        daemon = os.fork()
        if daemon == 0:
            time.sleep(900)
        os.write(1, f"pid {daemon}\n".encode())
        os._exit(0)
    os.wait()
    return x * 2
