# Ignores the polite signals, then loops.
import signal


def double(x):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True: pass
