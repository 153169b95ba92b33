"""Linux's system calls that Python 3.11 has no words for."""

import ctypes
import os
import signal
import struct
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
NEW_MOUNTS, NEW_PROCESSES = 0x20000, 0x20000000
READ_ONLY, NO_SET_ID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_NO_TIMES = 1024
_CAPABILITIES = 41
_VERSION_3 = 0x20080522

# Looked up once, before any fork: in a child the look-up costs tens of milliseconds.
libc: Any = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    """`result` of a call, or OSError if it says that the call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def adopt_orphans() -> None:
    """Makes this process the parent of whatever its descendants leave behind, so that it can be ended. Linux only."""
    if sys.platform == "linux":
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Sends this process the signal when the one with process id `parent`, its parent, ends. Linux only."""
    if sys.platform == "linux":
        libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(1)


def flush_c_streams() -> None:
    """Writes out what C code has printed into its own buffers."""
    libc.fflush(None)


def unshare(what: int) -> None:
    """Leaves the namespaces named by the flags. OSError if that is not allowed."""
    check(libc.unshare(what), "unshare")


def join(namespace: int, kind: int) -> None:
    """Goes into the namespace that a descriptor stands for."""
    check(libc.setns(namespace, kind), "setns")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """As mount(2). OSError, which names the target, if it fails."""
    done = libc.mount(source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), options.encode())
    check(done, f"mount {target}")


def make_read_only(target: str) -> None:
    """Of a mount of its own: what else holds for it stays. To a device node one can still write."""
    kept = {os.ST_NOSUID: NO_SET_ID, os.ST_NODEV: NO_DEVICES, os.ST_NOEXEC: NO_EXEC, os.ST_NOATIME: _NO_TIMES}
    flags = sum(flag for each, flag in kept.items() if os.statvfs(target).f_flag & each)
    mount("none", target, None, REMOUNT | BIND | READ_ONLY | flags)


def give_up_privileges() -> None:
    """No capabilities, none to be had by exec, and no process of the same user may look inside this one."""
    for capability in range(_CAPABILITIES):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # refused where there are none to give up
    check(libc.capset(struct.pack("II", _VERSION_3, 0), bytes(24)), "capset")
    check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    check(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable")
