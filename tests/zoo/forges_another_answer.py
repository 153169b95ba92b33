# Writes an answer to a question that was not asked.
import os
import sys
import time


def double(x):
    wire = sys.modules["proctorch.wire"]
    os.write(4, wire.encode({"id": 9, "value": {"result": x * 2, "given": x}, "traces": {}}))
    time.sleep(900)
