# Kills the process that all jobs are forked from.
import os
import signal
import time


def double(x):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(900)
