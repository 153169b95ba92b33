"""The judge's handle on the sandbox: starts its fork server, knows how strong it is, and begins jobs in it."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from proctorch.bank.question import Limits
from proctorch.judge.channel import END_SECONDS, START_SECONDS, Channel, SandboxBroken
from proctorch.judge.grade import Tier
from proctorch.judge.supervise import Pipes, Process

_START = "proctorch.sandbox.tiers"


class Unavailable(Exception):
    """This machine cannot play the job at all. The text is one line that says why."""


@dataclass(frozen=True)
class Strength:
    """How strangers' code is confined here. `layers` hold; `missing` do not: each with a reason and what to do."""

    tier: Tier
    layers: dict[str, str]
    missing: dict[str, str]


class Sandbox:
    """The judge's handle on a fork server, which plays any number of jobs. A context manager.

    It starts at once and is waited for when the first job needs it. With `virtual`, a second fork server splits off,
    for jobs on the virtual accelerator. `preload` names modules to import before that, `hidden` folders that no job may
    see, `devices` the nodes of accelerators, `strongest` the tier that is tried first.
    """

    def __init__(
        self,
        preload: Sequence[str] = (),
        *,
        virtual: bool = False,
        hidden: Sequence[Path] = (),
        devices: Sequence[str] = (),
        strongest: Tier = Tier.FULL,
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        pairs = [socket.socketpair() for _ in range(2 if virtual else 1)]
        theirs = [their.fileno() for _, their in pairs]
        order = {
            "control": theirs[0],
            "virtual": theirs[1] if virtual else None,
            "preload": list(preload),
            "hidden": [str(path) for path in hidden],
            "devices": list(devices),
            "strongest": strongest.value,
        }
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-I", "-m", _START, json.dumps(order)],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the judge, which then ends the sandbox itself
        )
        for _, their in pairs:
            their.close()
        self._channels = [Channel(ours, self._broken) for ours, _ in pairs]
        self._strength: Strength | None = None
        #: It has failed and is of no more use.
        self.broken = False
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ready(self) -> bool:
        """It has once been fit for work."""
        return any(channel.hello is not None for channel in self._channels)

    @property
    def process_id(self) -> int:
        """Of the process that all others of the sandbox descend from."""
        return self._process.pid

    def close(self) -> None:
        """Ends the fork server and with it every job. Idempotent."""
        for channel in reversed(self._channels):
            channel.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    @property
    def strength(self) -> Strength:
        """What was found to hold here. Known long before it is ready for work."""
        if self._strength is None:
            told, _ = self._channels[0].message(START_SECONDS)
            found = told["tier"]
            self._strength = Strength(Tier(found["tier"]), found["layers"], found["missing"])
        return self._strength

    def start(self, limits: Limits, *, accelerator: bool = False, virtual: Sequence[int] | None = None) -> "Process":
        """A fresh process for one job.

        With `accelerator`, a real one, its memory is not limited: CUDA reserves far more address space than it uses.

        `virtual`: the bytes of each virtual accelerator, None for a job without any. Unavailable if this machine cannot
        play such a job.
        """
        tier = self.strength.tier  # asked first: it is the first thing that is told
        if limits.processes and tier is Tier.KERNEL:  # shared memory of its own needs a mount of its own
            raise Unavailable("needs processes beside its own, which the sandbox allows in tier `full` only")
        channel = self._channels[-1 if virtual is not None else 0]
        if (obstacle := channel.wait_until_ready().get("obstacle")) is not None:
            raise Unavailable(str(obstacle))
        self._count += 1
        name = f"job{self._count}"
        requests, to_requests = os.pipe()
        from_answers, answers = os.pipe()
        from_out, out = os.pipe()
        from_err, err = os.pipe()
        from_whereabouts, whereabouts = os.pipe()
        theirs = [requests, answers, out, err, whereabouts]
        try:
            job = {"start": name, "virtual": virtual, "limits": _told_limits(limits, accelerator=accelerator)}
            process, handle = channel.start(job, theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        pipes = Pipes(to_requests, from_answers, from_out, from_err, from_whereabouts)
        return Process(channel, name, process, handle, pipes, limits)

    def _broken(self, why: str) -> SandboxBroken:
        self.broken = True
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
        last = f"; its last words: {said}" if said else ""
        return SandboxBroken(f"the sandbox process does not work: {why}{last}")


def _told_limits(limits: Limits, *, accelerator: bool) -> dict[str, Any]:
    return {
        "cpu": limits.cpu,
        "memory": None if accelerator else limits.memory,
        "processes": limits.processes,
        "threads": limits.threads,
        "disk": limits.disk,
        "open_files": limits.open_files,
    }


def _environment() -> dict[str, str]:
    """A small environment of our own: none of the user's variables reach a candidate."""
    return {
        "PATH": "/usr/bin:/bin",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    } | {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES") if name in os.environ}
