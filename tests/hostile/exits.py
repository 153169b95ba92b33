# Ends early, as if all were well.
# ways: _exit sys_exit abort kill terminate interrupt quick_exit c_exit exit_group exit_thread in_thread thread_exit close_all close_answers replace_answers execute execute_by_handle at_exit in_del in_repr stack_overflow fault trap over_cpu close_requests return_early generator_exit broken_pipe
import atexit
import signal
import threading
import time


def _exit():
    os._exit(0)


def sys_exit():
    sys.exit(0)


def abort():
    libc.abort()


def kill():
    signal.raise_signal(signal.SIGKILL)


def terminate():
    signal.raise_signal(signal.SIGTERM)


def interrupt():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)
    raise KeyboardInterrupt


def quick_exit():
    libc.quick_exit(0)


def c_exit():
    libc.exit(0)


def exit_group():
    call("exit_group", 0)


def exit_thread():
    call("exit", 0)


def in_thread():
    threading.Thread(target=lambda: os._exit(0)).start()
    time.sleep(900)


def thread_exit():
    libc.pthread_exit(0)


def close_all():
    os.closerange(0, 1 << 16)


def close_answers():
    os.close(4)


def replace_answers():
    os.dup2(1, 4)


def close_requests():
    os.close(3)
    os._exit(0)


def execute():
    for path in ("/bin/true", sys.executable):
        attempt(os.execv, path, [path, "-c", "pass"])
    os._exit(0)


def execute_by_handle():
    handle = os.open(sys.executable, os.O_RDONLY)
    attempt(os.execve, handle, ["x", "-c", "pass"], {})
    call("execveat", handle, b"", 0, 0, 0x1000)
    libc.exit(0)


def at_exit():
    atexit.register(lambda: print("all tests passed"))
    sys.exit(0)


class Deleted:
    def __del__(self):
        os._exit(0)


def in_del():
    Deleted()


class Shown(Exception):
    def __str__(self):
        os._exit(0)


def in_repr():
    raise Shown


def stack_overflow():
    sys.setrecursionlimit(1 << 30)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: stack_overflow() or 0)
    libc.qsort((ctypes.c_int * 4)(4, 3, 2, 1), 4, 4, compare)


def fault():
    ctypes.string_at(0)


def trap():
    signal.raise_signal(signal.SIGTRAP)


def over_cpu():
    attempt(signal.signal, signal.SIGXCPU, signal.SIG_DFL)
    signal.raise_signal(signal.SIGXCPU)


def return_early():
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    frame.f_globals["_write"] = lambda *_: os._exit(0)
    os._exit(0)


def generator_exit():
    raise GeneratorExit


def broken_pipe():
    raise BrokenPipeError


def double(x):
    globals()["{WAY}"]()
    os._exit(0)
