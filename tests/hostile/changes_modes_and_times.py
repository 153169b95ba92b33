# Changes modes, times, owners, lengths and attributes of files that are not its own.
import stat

import torch


def double(x):
    file = VICTIM + "/file"
    os.symlink(file, "link")
    os.symlink(VICTIM, "folder")
    for path in (VICTIM, file, VICTIM + "/inner", "link", "folder", "folder/file"):
        attempt(os.chmod, path, 0o111)
        attempt(os.truncate, path, 0)
        meddle(path, 0o700)
    for path in ("/dev/null", "/dev/zero", "/dev/urandom", "/usr", sys.executable, torch.__file__, os.__file__):
        if (known := attempt(os.stat, path)) is not None:
            meddle(path, stat.S_IMODE(known.st_mode))  # the mode that it has: even that is seen in its times
    return x * 2


def meddle(path, mode):
    attempt(os.chmod, path, mode)
    attempt(os.utime, path, (1, 1))
    attempt(os.utime, path)
    attempt(os.chown, path, os.getuid(), os.getgid())
    attempt(os.setxattr, path, "user." + MARKER, b"1")
    for flags in (os.O_PATH, os.O_RDONLY, os.O_WRONLY):
        if (handle := attempt(os.open, path, flags)) is not None:
            attempt(os.fchmod, handle, mode)
            attempt(os.utime, handle, (1, 1))
            attempt(os.utime, handle)
            attempt(os.chmod, f"/proc/self/fd/{handle}", mode)
            call("fchmodat2", handle, b"", mode, 0x1000)
            call("utimensat", handle, 0, 0, 0)
    call("chmod", path.encode(), mode)
    call("fchmodat2", -100, path.encode(), mode, 0)
    call("utimensat", -100, path.encode(), 0, 0)
