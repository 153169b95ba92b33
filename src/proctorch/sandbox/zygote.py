"""The fork server: imports torch once, then forks one process for each job.

    python -I -m proctorch.sandbox.zygote CONTROL VIRTUAL WORK [MODULE…]

CONTROL is the descriptor of a stream socket to the judge, WORK a folder for the jobs' folders, each MODULE something
slow to import before the first job. VIRTUAL is the descriptor of a second such socket, or `-`: for it a second fork
server splits off, whose jobs have the virtual accelerator and whose torch has been made ready for it.

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
import sys
from typing import Any, NoReturn

import torch

from proctorch.sandbox import confine, probe, worker

# Descriptors of a job in its own process, out of the way of those that Python opens by itself.
_REQUESTS, _ANSWERS, _WHEREABOUTS, _FREE = 3, 4, 5, 6
_HIGH = 200


def main() -> None:
    control, virtual = sys.argv[1:3]
    _ready(sys.argv[4:])
    second = None if virtual == "-" else _split_off(int(virtual), close=int(control))
    # The first backward builds the engine, the first of anything costs: 30 ms in all. Not in the other fork server:
    # what the virtual device needs of the engine must not be there before the fork.
    with probe.Probe("").watch():
        torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    _serve(int(control), {}, second)


def _ready(modules: list[str]) -> None:
    """What both fork servers have in common, so that torch is imported once.

    A team of OpenMP threads in the parent would make a child's first parallel operation hang: one thread, before any
    operation.
    """
    # Not SIGKILL: this one can be caught, to end the jobs first.
    confine.die_with_parent(os.getppid(), signal.SIGTERM)
    confine.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's business; it ends us by closing the socket
    torch.set_num_threads(1)
    torch.set_warn_always(True)  # else a warning that torch gives once is given to the first job alone
    for module in modules:
        importlib.import_module(module)
    import safetensors.torch  # noqa: F401, PLC0415 - wire needs it for the first answer


def _split_off(virtual: int, close: int) -> int:
    """Starts the fork server for the virtual accelerator; returns its process id."""
    first = os.getpid()
    process = os.fork()
    if process:
        os.close(virtual)
        return process
    try:
        os.close(close)
        confine.die_with_parent(first, signal.SIGTERM)
        confine.adopt_orphans()
        _serve(virtual, {"obstacle": _register()}, None)
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


def _serve(descriptor: int, told: dict[str, Any], other: int | None) -> None:
    """Serves jobs until the judge is gone, and ends everything that is left then. `other`: a child that is no job."""
    control = socket.socket(fileno=descriptor)
    worker.settle(0)
    gc.collect()
    gc.freeze()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the judge is gone
        _send(control, {"ready": torch.__version__} | told)
        _Zygote(control, sys.argv[3], other).run()
    confine.end_children(lambda _: False)


class _Zygote:
    def __init__(self, control: socket.socket, work: str, other: int | None) -> None:
        self._control = control
        self._work = work
        self._parent = os.getppid()
        self._other = other
        self._jobs: dict[int, str] = {}
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
                for key, _ in selector.select():
                    if key.fileobj is self._control:
                        if not self._start():
                            return
                    else:
                        os.read(self._wake, 4096)
                        if os.getppid() != self._parent:
                            return
                        self._reap()

    def _start(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 5)
        if not message:
            return False
        job = json.loads(message)
        work = os.path.join(self._work, job["start"])  # noqa: PTH118 - no pathlib between fork and confinement
        os.mkdir(work, 0o700)  # noqa: PTH102 - as above
        zygote = os.getpid()
        process = os.fork()
        if process == 0:
            self._become_job(job, descriptors, work, zygote)
        for descriptor in descriptors:
            os.close(descriptor)
        self._jobs[process] = job["start"]
        handle = [os.pidfd_open(process)] if hasattr(os, "pidfd_open") else []
        _send(self._control, {"started": job["start"], "process": process}, handle)
        for descriptor in handle:
            os.close(descriptor)
        return True

    def _become_job(self, job: dict[str, Any], descriptors: list[int], work: str, zygote: int) -> NoReturn:
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
                work=work,
                memory=job["memory"],
                virtual=job["virtual"],
                zygote=zygote,
            )
        except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as a second zygote
            import traceback  # noqa: PLC0415 - only here

            os.write(2, traceback.format_exc()[-4000:].encode())
        finally:
            os._exit(70)

    def _reap(self) -> None:
        """Reaps ended jobs. Each is told to the judge when nothing that it started is left."""
        ended: list[tuple[str, int]] = []
        for process in list(self._jobs):
            reaped, status = os.waitpid(process, os.WNOHANG)
            if reaped:
                ended.append((self._jobs.pop(process), status))
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process, signal.SIGKILL)
        confine.end_children(lambda child: child in self._jobs or child == self._other)
        for job, status in ended:
            _send(self._control, {"ended": job, "status": os.waitstatus_to_exitcode(status)})


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
    main()
