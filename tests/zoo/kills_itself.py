# Kills its own process, as the system does when memory is short.
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGKILL)
