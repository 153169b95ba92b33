"""The system calls that a job may make: an allow-list in three profiles, made by libseccomp.

What is not listed fails with EPERM: namespaces, mounts, keyrings, ptrace, bpf, io_uring, userfaultfd, memfd and all
that nobody has thought of yet.
"""

import ctypes
import errno
import os
import struct
import tempfile
from typing import Any

from proctorch.sandbox.system import check, libc

#: `single`: threads, no other process, no socket. `procs`: forks and local sockets too, for DataLoader's workers.
#: `cuda`: as `procs`, and what CUDA's driver asks of its device nodes.
PROFILES = ("single", "procs", "cuda")

_FILES = """
open openat openat2 close close_range read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek
stat fstat lstat newfstatat statx access faccessat faccessat2 statfs fstatfs readlink readlinkat getdents64 getcwd chdir
fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 symlink symlinkat ftruncate fallocate
fsync fdatasync fadvise64 copy_file_range sendfile fcntl flock dup dup2 dup3 pipe pipe2 umask
"""
_MEMORY = "mmap munmap mremap mprotect madvise brk mincore membarrier"
_SIGNALS = """
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack pause alarm setitimer
getitimer
"""
_WAITING = """
select pselect6 poll ppoll epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2 nanosleep
clock_nanosleep futex futex_waitv wait4 waitid restart_syscall
"""
_KNOWING = """
clock_gettime clock_getres gettimeofday time times getpid gettid getppid getuid geteuid getgid getegid getresuid
getresgid getgroups getpgrp getpgid getsid getrusage getrlimit sysinfo uname getrandom getcpu getpriority
sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min sched_yield
"""
_THREADS = "set_robust_list get_robust_list rseq set_tid_address arch_prctl exit exit_group"
_ALWAYS = f"{_FILES} {_MEMORY} {_SIGNALS} {_WAITING} {_KNOWING} {_THREADS}".split()
#: Harmless where nothing but the job's own folder can be reached, and needed by `shutil.copy`.
_MODES = [
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "utime",
    "utimes",
    "utimensat",
    "futimesat",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
]
_LINKS = ["truncate", "link", "linkat"]
_ATTRIBUTES = [
    "getxattr",
    "lgetxattr",
    "fgetxattr",
    "listxattr",
    "llistxattr",
    "flistxattr",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
]
_PROCESSES = [
    "fork",
    "vfork",
    "bind",
    "listen",
    "accept",
    "accept4",
    "connect",
    "sendmsg",
    "recvmsg",
    "sendto",
    "recvfrom",
    "shutdown",
    "getsockname",
    "getpeername",
    "setsockopt",
    "getsockopt",
    "setpgid",
    "setsid",
    "kill",
    "pidfd_open",
    "pidfd_send_signal",
]
_CUDA = [
    "ioctl",
    "mlock",
    "munlock",
    "sched_setaffinity",
    "get_mempolicy",
    "set_mempolicy",
    "mbind",
    "memfd_create",
    "mknod",
    "mknodat",
]

_AF_UNIX = 1
#: Of a terminal or a pipe: is it one, its size, how much is waiting, blocking or not, closed on exec or not.
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_CLONE_THREAD = 0x10000
#: CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_CLONE_NAMESPACES = 0x7E020080
#: In the filter's text, where the process's own id comes in once it is known. No instruction has this value by chance.
_OWN_ID = 0x5EC0FEED
_SET_MODE_FILTER, _TSYNC = 1, 1
_SECCOMP = {"x86_64": 317, "aarch64": 277}


def build(profile: str, *, private_files: bool) -> bytes:
    """The filter's program, for `load`. With `private_files` the job sees no file of others: it may change modes.

    ImportError or OSError if libseccomp is not here.
    """
    import pyseccomp  # type: ignore[import-untyped]  # noqa: PLC0415 - absent where there is no seccomp

    rules = _Rules(pyseccomp)
    rules.allow(_ALWAYS)
    if private_files:
        rules.allow(_MODES + _LINKS)
    else:  # they would reach the user's own files: they do nothing, and say that they did it
        rules.allow(_MODES, pyseccomp.ERRNO(0))
    rules.allow(_ATTRIBUTES, pyseccomp.ERRNO(errno.ENOTSUP))  # as on a file system that has none
    rules.allow(["clone3"], pyseccomp.ERRNO(errno.ENOSYS))  # its flags are behind a pointer; libc goes on with `clone`
    rules.only("prlimit64", (0, pyseccomp.EQ, 0), (2, pyseccomp.EQ, 0))  # reading one's own
    for what in (_PR_SET_NAME, _PR_GET_NAME):
        rules.only("prctl", (0, pyseccomp.EQ, what))
    if profile == "cuda":
        rules.allow(_CUDA)
    else:
        for request in _IOCTLS:
            rules.only("ioctl", (1, pyseccomp.EQ, request))
    if profile == "single":
        rules.only("clone", (0, pyseccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD))
        rules.only("tgkill", (0, pyseccomp.EQ, _OWN_ID))
    else:
        rules.only("clone", (0, pyseccomp.MASKED_EQ, _CLONE_NAMESPACES, 0))
        rules.allow([*_PROCESSES, "tgkill"])
        for name in ("socket", "socketpair"):
            rules.only(name, (0, pyseccomp.EQ, _AF_UNIX))
    return rules.program()


def load(program: bytes) -> None:
    """Holds this process, and all it will start, to the filter from now on."""
    own = program.replace(struct.pack("<I", _OWN_ID), struct.pack("<I", os.getpid()))
    text = ctypes.create_string_buffer(own, len(own))
    header = struct.pack("HxxxxxxQ", len(own) // 8, ctypes.addressof(text))
    check(libc.syscall(_SECCOMP[os.uname().machine], _SET_MODE_FILTER, _TSYNC, header), "seccomp")


class _Rules:
    """A filter while it is written. Names that this architecture or this libseccomp does not have are passed over."""

    def __init__(self, pyseccomp: Any) -> None:
        self._pyseccomp = pyseccomp
        self._filter = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))

    def allow(self, names: list[str], action: int | None = None) -> None:
        """All calls by these names, or another action for them."""
        for name in names:
            if self._known(name):
                self._filter.add_rule(self._pyseccomp.ALLOW if action is None else action, name)

    def only(self, name: str, *conditions: tuple[int, ...]) -> None:
        """Calls whose arguments meet all conditions: which argument, how it is compared, and with what."""
        if self._known(name):
            arguments = [self._pyseccomp.Arg(*condition) for condition in conditions]
            self._filter.add_rule(self._pyseccomp.ALLOW, name, *arguments)

    def program(self) -> bytes:
        with tempfile.TemporaryFile() as file:
            self._filter.export_bpf(file)
            file.seek(0)
            return file.read()

    def _known(self, name: str) -> bool:
        unknown = -1
        return bool(self._pyseccomp.resolve_syscall(self._pyseccomp.Arch.NATIVE, name) != unknown)
