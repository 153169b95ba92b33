# Sends itself what Ctrl-C sends.
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGINT)
