"""What a job's process gives up before it loads the candidate. What can be prepared is prepared before the fork."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proctorch.sandbox import seccomp, system

#: Beside the job's own folder, all that may be written.
_DEVICES_WRITTEN = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a mount of the job's own, and only in tier `full`
_INODES = 4096
#: By programs that go down by descriptors: a tree may be deeper than any path, and hold links to elsewhere. A folder in
#: it may be closed to its owner.
_REMOVE = 'rm -rf -- "$1" || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }'


@dataclass(frozen=True)
class Settings:
    """How the jobs of one fork server are confined: what `tiers` has found to work here."""

    #: `full`, `kernel` or `process`.
    tier: str
    #: In tier `full` the mount point of each job's own folder, else the folder that holds them.
    work: str
    #: Files and folders that a job may read.
    readable: tuple[str, ...] = ()
    #: Device nodes of accelerators.
    devices: tuple[str, ...] = ()
    #: Whether the user of this process is nobody else's, so that its processes can be counted.
    own_user: bool = False

    @property
    def namespaces(self) -> bool:
        return self.tier == "full"


@dataclass(frozen=True)
class Limits:
    """Of one job. Sizes in bytes; None is no limit."""

    cpu: float
    memory: int | None
    processes: int
    threads: int
    disk: int
    open_files: int

    @property
    def profile(self) -> str:
        if self.memory is None:
            return "cuda"
        return "procs" if self.processes else "single"


class Confinement:
    """The layers of one fork server's jobs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._filters: dict[str, bytes] = {}
        self._readable: list[tuple[str, bool]] = []
        self._own_processes = -1
        if settings.tier == "process":
            return
        import landlockpy  # noqa: PLC0415 - absent where there is no Landlock

        self._filters = {
            profile: seccomp.build(profile, private_files=settings.namespaces) for profile in seccomp.PROFILES
        }
        self._readable = [(path, os.path.isdir(path)) for path in settings.readable]  # noqa: PTH112 - texts
        landlockpy.Ruleset().close()  # looks up what it needs of libc, once
        if settings.namespaces:
            self._own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            for path in _DEVICES_WRITTEN:  # the machine's own: a job may write to them, but not set their times
                system.make_read_only(path)

    def fork(self) -> int:
        """As `os.fork`; in tier `full` the child is the first process of a namespace that ends with it."""
        if not self.settings.namespaces:
            return os.fork()
        system.unshare(system.NEW_PROCESSES)
        process = os.fork()
        if process:
            system.join(self._own_processes, system.NEW_PROCESSES)
        return process

    def folder(self, job: str) -> str:
        """The job's own folder, made if it is one of several."""
        if self.settings.namespaces:
            return self.settings.work
        folder = os.path.join(self.settings.work, job)  # noqa: PTH118 - no pathlib between fork and confinement
        os.mkdir(folder, 0o700)  # noqa: PTH102 - as above
        return folder

    def remove(self, folder: str) -> "subprocess.Popen[bytes] | None":
        """Begins to remove a job's folder; returns the process that does. In tier `full` it has gone with the job."""
        if self.settings.namespaces:
            return None
        return subprocess.Popen(["/bin/sh", "-c", _REMOVE, "sh", folder], stderr=subprocess.DEVNULL)  # noqa: S603 - ours

    def clean_up(self) -> None:
        """Removes the folder of all jobs' folders."""
        if process := self.remove(self.settings.work):
            process.wait()

    def apply(self, limits: Limits, *, folder: str, parent: int) -> list[str]:
        """Confines this process, and says in words which limits now hold.

        `folder`: what `folder` gave; `parent`: the process id of the fork server, before the fork.
        """
        # In a process namespace of its own, a process has no parent.
        system.die_with_parent(0 if self.settings.namespaces else parent)
        os.setsid()
        base = _address_space() if limits.memory is not None else 0  # /proc is hidden below
        if self.settings.namespaces:
            self._hide(limits)
        held = self._limit(limits, base)
        if self.settings.tier != "process":
            system.give_up_privileges()
            self._restrict_files(limits, folder)
            seccomp.load(self._filters[limits.profile])
        return held

    def _hide(self, limits: Limits) -> None:
        """Private, sized file systems over all that can be written, and nothing in /proc."""
        system.unshare(system.NEW_MOUNTS)
        flags = system.NO_SET_ID | system.NO_DEVICES
        options = f"size={limits.disk},nr_inodes={_INODES},mode=700"
        system.mount("tmpfs", self.settings.work, "tmpfs", flags, options)
        shared = flags if limits.profile != "single" else flags | system.READ_ONLY
        system.mount("tmpfs", _SHARED_MEMORY, "tmpfs", shared, options)
        if limits.profile != "cuda":  # its driver reads there
            system.mount("tmpfs", "/proc", "tmpfs", flags | system.READ_ONLY, "size=0,mode=555")

    def _limit(self, limits: Limits, base: int) -> list[str]:
        """Resource limits. `base`: the bytes of address space that are in use already."""
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, limits.disk)
        _limit(resource.RLIMIT_NOFILE, limits.open_files)
        # At the soft limit the process may still say where it was; a second later it is ended, whatever it ignores.
        _limit(resource.RLIMIT_CPU, max(1, round(limits.cpu)), slack=1)
        held = [
            f"{limits.cpu:g} seconds of CPU time for each process",
            f"file size {limits.disk >> 20} MiB",
            f"{limits.open_files} open files",
        ]
        if self.settings.namespaces:
            held.append(f"all files together {limits.disk >> 20} MiB, {_INODES:,} of them")
        if self.settings.own_user:
            _limit(resource.RLIMIT_NPROC, 1 + limits.processes + limits.threads)
            held.append(f"{limits.processes} more processes and {limits.threads} more threads")
        if sys.platform == "linux":
            for what in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
                if self.settings.tier != "process" and limits.profile != "cuda":
                    _limit(what, 0)
            if limits.memory is not None:
                _limit(resource.RLIMIT_AS, base + limits.memory)
                held.append("memory of each process (address space)")
        return held

    def _restrict_files(self, limits: Limits, folder: str) -> None:
        import landlockpy  # noqa: PLC0415 - as above

        access: Any = landlockpy.AccessFS
        read = access.READ_FILE | access.READ_DIR
        write = (read | access.WRITE_FILE | access.TRUNCATE | access.REFER | access.MAKE_REG | access.MAKE_DIR) | (
            access.MAKE_SYM | access.REMOVE_FILE | access.REMOVE_DIR
        )
        scope = landlockpy.Scope.SIGNAL | landlockpy.Scope.ABSTRACT_UNIX_SOCKET
        with landlockpy.Ruleset(scoped=scope) as rules:
            for path, folder_of_files in self._readable:
                rules.allow_path(path, read if folder_of_files else access.READ_FILE)
            for path in _DEVICES_WRITTEN:
                rules.allow_path(path, access.READ_FILE | access.WRITE_FILE)
            rules.allow_path(folder, write)
            if limits.profile != "single":
                if self.settings.namespaces:
                    rules.allow_path(_SHARED_MEMORY, write)
                rules.allow_path(folder, access.MAKE_SOCK)
            if limits.profile == "cuda":
                for path in self.settings.devices:
                    rules.allow_path(path, access.READ_FILE | access.WRITE_FILE | access.IOCTL_DEV)
                for path in ("/proc", "/sys"):
                    rules.allow_path(path, read)
            rules.restrict()


def _address_space() -> int:
    """Bytes of address space that this process has. Linux only; elsewhere 0."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - no pathlib in the child's way
        return int(statm.read().split()[0]) * resource.getpagesize()


def _limit(what: int, value: int, slack: int = 0) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
        slack = min(slack, hard - value)
    resource.setrlimit(what, (value, value + slack))


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
