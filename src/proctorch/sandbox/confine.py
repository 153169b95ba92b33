"""What a job's process gives up before it loads the candidate.

This is tier `process`: a session of its own, death with its parent, and resource limits. Namespaces, Landlock and
seccomp belong here too, after the limits; nothing else in the sandbox knows how a job is confined.
"""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_OPEN_FILES = 256
_FILE_BYTES = 256 << 20

# Looked up once, before any fork: in a child the look-up costs tens of milliseconds.
_libc: Any = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Makes this process the parent of whatever its descendants leave behind, so that it can be ended. Linux only."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Sends this process the signal when the one with process id `parent`, its parent, ends. Linux only."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(1)


def flush_c_streams() -> None:
    """Writes out what C code has printed into its own buffers."""
    _libc.fflush(None)


def apply(*, memory: int | None, zygote: int) -> list[str]:
    """Confines this process, and says in words which limits now hold.

    `memory`: bytes it may take beyond what it has now, None for no limit (CUDA reserves far more address space than
    memory); `zygote`: its parent's process id.
    """
    die_with_parent(zygote)
    os.setsid()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    held = [f"file size {_FILE_BYTES >> 20} MiB", f"{_OPEN_FILES} open files"]
    if memory is not None and sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - no pathlib in the child's way
            pages = int(statm.read().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)
        held.append("memory of one process (address space)")
    return held


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))


def end_children(known: Callable[[int], bool]) -> None:
    """Kills and reaps every child of this process that is not `known`: what ended jobs left behind. Linux only."""
    for _ in range(1000):  # each round may bring grandchildren home; a bound, in case something forks faster than this
        strangers = [child for child in _children() if not known(child)]
        if not strangers:
            return
        for child in strangers:
            os.kill(child, signal.SIGKILL)
        for child in strangers:
            os.waitpid(child, 0)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:  # noqa: PTH123 - see above
            return [int(child) for child in children.read().split()]
    except OSError:  # no such file on this system
        return []
