# Leaves a thread running, which is no daemon thread; is right.
import threading
import time


def double(x):
    threading.Thread(target=time.sleep, args=[900]).start()
    return x * 2
