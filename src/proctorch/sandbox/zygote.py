"""The fork server: imports torch once, then forks one process for each job.

`tiers` starts it, in tier `full` inside bubblewrap as `python -I -m proctorch.sandbox.zygote JSON`.

The judge sends one line of JSON for a job, with five descriptors (requests, answers, stdout, stderr, whereabouts). It
is told when the process has started and, once nothing of it is left, how it ended.
"""

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch

from proctorch.sandbox import confine, memory, probe, system, worker

# Descriptors of a job in its own process, out of the way of those that Python opens by itself.
_REQUESTS, _ANSWERS, _WHEREABOUTS, _FREE = 3, 4, 5, 6
_HIGH = 200
_LOOK_SECONDS = 0.05
_REMOVE_SECONDS = 3.0


def main(control: int, virtual: int | None, preload: Sequence[str], settings: confine.Settings) -> None:
    """Serves jobs until the judge is gone. Does not return.

    `control` is the descriptor of a stream socket to the judge, `virtual` that of a second one: for it a second fork
    server splits off, whose jobs have the virtual accelerator and whose torch has been made ready for it. `preload`
    names modules that are slow to import.
    """
    _ready(preload)
    confinement = confine.Confinement(settings)
    second = None if virtual is None else _split_off(virtual, control, confinement)
    # The first backward builds the engine, the first of anything costs: 30 ms in all. Not in the other fork server:
    # what the virtual device needs of the engine must not be there before the fork.
    with probe.Probe("").watch():
        torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    _serve(control, {}, second, confinement)
    confinement.clean_up()
    os._exit(0)


def _ready(modules: Sequence[str]) -> None:
    """What both fork servers have in common, so that torch is imported once.

    A team of OpenMP threads in the parent would make a child's first parallel operation hang: one thread, before any
    operation.
    """
    # Not SIGKILL: this one can be caught, to end the jobs first.
    system.die_with_parent(os.getppid(), signal.SIGTERM)
    system.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's business; it ends us by closing the socket
    torch.set_num_threads(1)
    torch.set_warn_always(True)  # else a warning that torch gives once is given to the first job alone
    for module in modules:
        importlib.import_module(module)
    import safetensors.torch  # noqa: F401, PLC0415 - wire needs it for the first answer


def _split_off(virtual: int, close: int, confinement: confine.Confinement) -> int:
    """Starts the fork server for the virtual accelerator; returns its process id."""
    first = os.getpid()
    process = os.fork()
    if process:
        os.close(virtual)
        return process
    try:
        os.close(close)
        system.die_with_parent(first, signal.SIGTERM)
        system.adopt_orphans()
        _serve(virtual, {"obstacle": _register()}, None, confinement)
    finally:
        os._exit(0)


def _register() -> str | None:
    """Makes this process able to have the virtual accelerator; returns why not, in one line, if it cannot."""
    from proctorch import virtual  # noqa: PLC0415 - the other fork server has no trace of it

    try:
        virtual.register()
    except virtual.Unsupported as reason:
        return str(reason)
    except Exception as error:  # noqa: BLE001 - whatever it is, jobs on real devices go on, and the others are told it
        return f"the virtual device cannot be registered: {type(error).__name__}: {error}"
    return None


def _serve(descriptor: int, told: dict[str, Any], other: int | None, confinement: confine.Confinement) -> None:
    """Serves jobs until the judge is gone, and ends everything that is left then. `other`: a child that is no job."""
    control = socket.socket(fileno=descriptor)
    worker.settle(0)
    gc.collect()
    gc.freeze()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the judge is gone
        _send(control, {"ready": torch.__version__} | told)
        _Zygote(control, confinement, other).run()
    confine.end_children(lambda _: False)


@dataclass
class _Running:
    """A job whose process has not ended."""

    name: str
    folder: str
    #: The bytes that its processes may have together, where it may have several; one alone is held by the system.
    watched: int | None
    #: It had more, and was ended.
    over: bool = False


class _Zygote:
    def __init__(self, control: socket.socket, confinement: confine.Confinement, other: int | None) -> None:
        self._control = control
        self._confinement = confinement
        self._parent = os.getppid()
        self._other = other
        self._removers: list[subprocess.Popen[bytes]] = []
        #: By process id.
        self._jobs: dict[int, _Running] = {}
        self._wake, write = os.pipe()
        for end in (self._wake, write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        self._write = write

    def run(self) -> None:
        """Until the judge closes its end, or ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while True:
                watched = any(job.watched for job in self._jobs.values())
                for key, _ in selector.select(_LOOK_SECONDS if watched else None):
                    if key.fileobj is self._control:
                        if not self._start():
                            return
                    else:
                        os.read(self._wake, 4096)
                        if os.getppid() != self._parent:
                            return
                        self._reap()
                if watched:
                    self._end_greedy()

    def _start(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 5)
        if not message:
            return False
        job = json.loads(message)
        folder = self._confinement.folder(job["start"])
        zygote = os.getpid()
        process = self._confinement.fork()
        if process == 0:
            self._become_job(job, descriptors, folder, zygote)
        for descriptor in descriptors:
            os.close(descriptor)
        limits = confine.Limits(**job["limits"])
        self._jobs[process] = _Running(job["start"], folder, limits.memory if limits.processes else None)
        handle = [os.pidfd_open(process)] if hasattr(os, "pidfd_open") else []
        _send(self._control, {"started": job["start"], "process": process}, handle)
        for descriptor in handle:
            os.close(descriptor)
        return True

    def _become_job(self, job: dict[str, Any], descriptors: list[int], folder: str, zygote: int) -> NoReturn:
        """In the child: keeps the job's own descriptors and closes all others, the judge's socket first."""
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            requests, answers, out, err, whereabouts = (_high(descriptor) for descriptor in descriptors)
            null = os.open(os.devnull, os.O_RDONLY)
            for source, target in (
                *((null, 0), (out, 1), (err, 2)),
                *((requests, _REQUESTS), (answers, _ANSWERS), (whereabouts, _WHEREABOUTS)),
            ):
                os.dup2(source, target, inheritable=target <= 2)
            os.closerange(_FREE, os.sysconf("SC_OPEN_MAX") if sys.platform != "linux" else 1 << 16)
            worker.serve(
                requests=_REQUESTS,
                answers=_ANSWERS,
                whereabouts=_WHEREABOUTS,
                confine=lambda: self._confinement.apply(confine.Limits(**job["limits"]), folder=folder, parent=zygote),
                folder=folder,
                virtual=job["virtual"],
            )
        except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as a second zygote
            import traceback  # noqa: PLC0415 - only here

            os.write(2, traceback.format_exc()[-4000:].encode())
        finally:
            os._exit(70)

    def _end_greedy(self) -> None:
        """Ends each job whose processes together have more memory than it may have."""
        for process, job in self._jobs.items():
            if job.watched and not job.over and memory.of_tree(process) > job.watched:
                job.over = True
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)  # the first of its namespace: all others end with it

    def _reap(self) -> None:
        """Reaps ended jobs. Each is told to the judge when nothing that it started is left."""
        ended: list[dict[str, Any]] = []
        folders: list[str] = []
        for process in list(self._jobs):
            reaped, status, used = os.wait4(process, os.WNOHANG)
            if reaped:
                job = self._jobs.pop(process)
                end = {"status": os.waitstatus_to_exitcode(status), "cpu": used.ru_utime + used.ru_stime}
                ended.append({"ended": job.name, "over": job.over} | end)
                folders.append(job.folder)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process, signal.SIGKILL)
        self._removers = [each for each in self._removers if each.poll() is None]
        ours = {self._other, *self._jobs, *(each.pid for each in self._removers)}
        confine.end_children(lambda child: child in ours)
        for remover in filter(None, map(self._confinement.remove, folders)):
            try:
                remover.wait(_REMOVE_SECONDS)
            except subprocess.TimeoutExpired:  # it goes on beside what follows: there may be any number of files
                self._removers.append(remover)
        for message in ended:
            _send(self._control, message)


def _high(descriptor: int) -> int:
    """The same file under a number that `dup2` below will not overwrite."""
    import fcntl  # noqa: PLC0415 - absent on Windows, where there is no fork either

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH)


def _send(control: socket.socket, message: dict[str, Any], descriptors: list[int] | None = None) -> None:
    line = json.dumps(message).encode() + b"\n"
    if descriptors:
        socket.send_fds(control, [line], descriptors)
    else:
        control.sendall(line)


if __name__ == "__main__":
    _control, _virtual, _preload, _settings = json.loads(sys.argv[1])
    main(_control, _virtual, _preload, confine.Settings(**_settings))
