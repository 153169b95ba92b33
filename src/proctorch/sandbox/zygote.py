"""The fork server: imports torch once, then forks one process for each job.

    python -I -m proctorch.sandbox.zygote CONTROL WORK [MODULE…]

CONTROL is the descriptor of a stream socket to the judge, WORK a folder for the jobs' folders, each MODULE something
slow to import before the first job. The judge sends one line of JSON for a job, with five descriptors (requests,
answers, stdout, stderr, whereabouts). It is told when the process has started and, once nothing of it is left, how it
ended.
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
    control = socket.socket(fileno=int(sys.argv[1]))
    judge = os.getppid()
    confine.die_with_parent(judge, signal.SIGTERM)  # a signal that can be caught later, when there are jobs to be ended
    confine.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's business; it ends us by closing the socket
    _prepare(sys.argv[3:])
    _send(control, {"ready": torch.__version__})
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the judge is gone
        _Zygote(control, sys.argv[2], judge).run()
    confine.end_children(lambda _: False)


def _prepare(modules: list[str]) -> None:
    """Everything that a child would otherwise pay for, and nothing that a child could not live with.

    A team of OpenMP threads in the parent would make a child's first parallel operation hang: one thread, before any
    operation.
    """
    torch.set_num_threads(1)
    torch.set_warn_always(True)  # else a warning that torch gives once is given to the first job alone
    for module in modules:
        importlib.import_module(module)
    with probe.Probe("").watch():  # the first backward builds the engine, the first of anything costs: 30 ms in all
        torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    worker.settle(0)
    import safetensors.torch  # noqa: F401, PLC0415 - wire needs it for the first answer

    gc.collect()
    gc.freeze()


class _Zygote:
    def __init__(self, control: socket.socket, work: str, judge: int) -> None:
        self._control = control
        self._work = work
        self._judge = judge
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
                        if os.getppid() != self._judge:
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
        confine.end_children(self._jobs.__contains__)
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
