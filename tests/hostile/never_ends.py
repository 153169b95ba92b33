# Goes on for ever, in Python and in C, deaf to every signal.
# ways: python c deaf deaf_by_number alarm threads_too sleeping slow_answer
import itertools
import signal
import threading
import time


def python():
    while True:
        pass


def c():
    sum(itertools.count())


def deaf():
    for number in signal.valid_signals():
        attempt(signal.signal, number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


def deaf_by_number():
    call("rt_sigprocmask", 0, (ctypes.c_uint64 * 1)(0xFFFFFFFFFFFFFFFF), 0, 8)
    while True:
        libc.pause()


def alarm():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while True:
        attempt(time.sleep, 900)


def threads_too():
    for _ in range(4):
        threading.Thread(target=python).start()
    python()


def sleeping():
    while True:
        attempt(time.sleep, 900)


def slow_answer():
    while True:
        os.write(4, b"\0")
        time.sleep(0.05)


def double(x):
    while True:
        try:
            globals()["{WAY}"]()
        except BaseException:
            pass
