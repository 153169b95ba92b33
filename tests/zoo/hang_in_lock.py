# Waits for a lock that nobody gives back.
import threading


def double(x):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
