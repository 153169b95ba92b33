# Where a question allows some processes: makes as many as it can, that shed their parents, and go on for ever.
# ways: forks daemons threads
# limits: processes=2
import threading
import time


def forks():
    while (child := attempt(os.fork)) is not None:
        if child == 0:
            while True:
                time.sleep(900)


def daemons():
    for _ in range(20):
        if attempt(os.fork) == 0:
            attempt(os.setsid)
            if attempt(os.fork) == 0:
                while True:
                    time.sleep(900)
            os._exit(0)


def threads():
    for _ in range(4):
        if attempt(os.fork) == 0:
            for _ in range(1000):
                attempt(lambda: threading.Thread(target=time.sleep, args=(900,), daemon=True).start())
            time.sleep(900)


def double(x):
    globals()["{WAY}"]()
    time.sleep(0.1)
    return x * 2
