# Sends a right answer so slowly that it would take a minute.
import os
import sys
import time


def double(x):
    wire = sys.modules["proctorch.wire"]
    for each in wire.encode({"id": 3, "value": {"result": x * 2, "given": x}, "traces": {}}):
        os.write(4, bytes([each]))
        time.sleep(0.1)
