# Is right, and leaves something that goes on after the answer.
# ways: thread thread_that_writes thread_that_prints thread_that_kills at_exit deleted alarm traced daemon tracer_of_writes
import atexit
import signal
import threading
import time


def later(action):
    def run():
        time.sleep(0.002)
        while True:
            action()

    threading.Thread(target=run, daemon=True).start()


def thread():
    later(lambda: time.sleep(0.01))


def thread_that_writes():
    later(lambda: os.write(4, b"\0" * 8) and time.sleep(900))


def thread_that_prints():
    later(lambda: print("still here") or time.sleep(0.001))


def thread_that_kills():
    later(lambda: os._exit(0))


def at_exit():
    atexit.register(lambda: time.sleep(900))


def deleted():
    class Last:
        def __del__(self):
            while True:
                pass

    sys.modules["last"] = Last()


def alarm():
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, 0.05)


def traced():
    sys.settrace(lambda *_: None)
    threading.settrace(lambda *_: None)


def daemon():
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(900)
    except OSError:
        pass


def tracer_of_writes():
    sys.addaudithook(lambda event, _: None)


def double(x):
    globals()["{WAY}"]()
    return x * 2
