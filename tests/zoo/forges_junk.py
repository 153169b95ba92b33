# Writes junk into every descriptor that it finds open.
import os
import time


def double(x):
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"junk" * 100)
        except OSError:
            pass
    time.sleep(900)
