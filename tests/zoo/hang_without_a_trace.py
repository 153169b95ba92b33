# Ignores the signal that asks it where it is, then loops: the judge can only name the function that it had called.
import signal


def double(x):
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    while True: pass
