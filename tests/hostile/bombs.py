# Uses up what all share: processes, threads, memory, files, output, the judge's own patience.
# ways: fork raw_clone vfork spawn threads memory_in_python shared_memory memory_by_mmap memory_in_torch memfd files inodes sparse pipes stack output output_by_c errors huge_line source expression whereabouts
import _thread
import threading
import time


def fork():
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(900)


def raw_clone():
    for flags in (17, 0x10000000 | 17, 0x20000000 | 17, 0x00020000 | 17, 0x40000000 | 17, 0x02000000 | 17, 0x00000100 | 0x4000 | 17):
        if call("clone", flags, 0, 0, 0, 0) == 0:
            time.sleep(900)


def vfork():
    for name in ("fork", "vfork", "clone3"):
        if name in NUMBERS and call(name, 0, 0) == 0:
            time.sleep(900)


def spawn():
    import multiprocessing
    import subprocess

    attempt(lambda: os.posix_spawn("/bin/sleep", ["sleep", "900"], {}))
    attempt(lambda: subprocess.Popen(["/bin/sleep", "900"]))
    attempt(lambda: os.popen("sleep 900"))
    attempt(lambda: multiprocessing.Process(target=time.sleep, args=(900,)).start())
    attempt(lambda: os.system("sleep 900 &"))
    attempt(lambda: os.forkpty())


def threads():
    threading.stack_size(1 << 16)
    for _ in range(100):
        attempt(_thread.start_new_thread, time.sleep, (0.3,))
    time.sleep(0.2)


def memory_in_python():
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


def shared_memory():
    import mmap

    hoard = []
    while True:
        hoard.append(mmap.mmap(-1, 16 << 20, mmap.MAP_SHARED))
        hoard[-1][:] = bytes(16 << 20)


def memory_by_mmap():
    libc.mmap.restype = ctypes.c_void_p
    while True:
        at = libc.mmap(None, ctypes.c_size_t(16 << 20), 3, 0x22, -1, 0)
        if at == ctypes.c_void_p(-1).value:
            raise MemoryError
        ctypes.memset(at, 1, 16 << 20)


def memory_in_torch():
    import torch

    hoard = []
    while True:
        hoard.append(torch.ones(4 << 20))


def memfd():
    for name in ("memfd_create", "memfd_secret"):
        handle = call(name, b"x", 0)
        for _ in range(64):
            if handle >= 0:
                os.write(handle, bytes(16 << 20))


def files():
    for number in range(64):
        attempt(lambda: open(f"file{number}", "wb", buffering=0).write(bytes(16 << 20)))
    time.sleep(0.1)


def inodes():
    def all_of_them():
        for number in range(6000):
            os.mkdir(f"folder{number}")

    attempt(all_of_them)
    time.sleep(0.1)


def sparse():
    for number in range(4):
        handle = os.open(f"sparse{number}", os.O_CREAT | os.O_RDWR)
        attempt(os.truncate, handle, 1 << 40)
        attempt(os.posix_fallocate, handle, 0, 1 << 30)
    time.sleep(0.1)


def pipes():
    import fcntl

    ends = []
    while (pair := attempt(os.pipe)) is not None:
        ends.append(pair)
        attempt(fcntl.fcntl, pair[1], 1031, 1 << 20)
        os.set_blocking(pair[1], False)
        attempt(os.write, pair[1], bytes(1 << 20))
    for pair in ends:
        os.close(pair[0])
        os.close(pair[1])


def stack():
    sys.setrecursionlimit(1 << 30)

    def down(_):
        return sorted([0], key=down)

    down(0)


def output():
    while True:
        print("x" * 100_000)


def output_by_c():
    while True:
        libc.write(1, b"x" * 100_000, 100_000)


def errors():
    while True:
        os.writev(2, [b"x" * 100_000] * 10)


def huge_line():
    raise ValueError("x" * (4 << 20))


def source():
    compile("-" * 50_000 + "1", "?", "eval")


def expression():
    re.match(r"(a+)+$", "a" * 60 + "b")


def whereabouts():
    os.write(5, b'File "' * 10_900)
    while True:
        time.sleep(900)


def double(x):
    globals()["{WAY}"]()
    return x * 2
