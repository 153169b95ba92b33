"""Runs jobs in the sandbox process from outside: starts, keeps deadlines, caps output, kills, accounts for the end.

Nothing that comes back is believed: a process that ends, is silent, prints without end or sends garbage has its own
`Stopped`.
"""

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from proctorch import wire
from proctorch.bank.question import Limits
from proctorch.errors import ProctorchError
from proctorch.judge.evidence import Ended
from proctorch.judge.grade import Output, Tier

_START = "proctorch.sandbox.tiers"
_START_SECONDS = 120.0
_END_SECONDS = 20.0
#: How long a process whose answers have ended may take to be dead.
_GRACE_SECONDS = 1.0
_KEPT = 16 << 10
_CHUNK = 1 << 16
_MESSAGE = 1 << 16
#: The end of a traceback of faulthandler's: the outermost frame of a program started with `-m`, or a cut.
_WHOLE = re.compile(r" in _run_module_as_main\n|^  \.\.\.\n", re.MULTILINE)


class SandboxBroken(ProctorchError):
    """The sandbox itself does not work; no candidate is to blame."""


class Stopped(Exception):
    """A job's process gave no answer. `reason` is one line for the candidate.

    `whereabouts` is the process's own traceback, innermost call first, if it was stopped in time or died of a fault.
    """

    def __init__(self, ended: Ended, reason: str, whereabouts: str = "") -> None:
        self.ended = ended
        self.reason = reason
        self.whereabouts = whereabouts
        super().__init__(reason)


class _Capture:
    """The head and the tail of a stream, and how many bytes there were."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = _KEPT - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        del self._tail[:-_KEPT]

    def output(self) -> Output:
        cut = self.total - len(self._head) - len(self._tail)
        text = bytes(self._head).decode("utf-8", "replace")
        tail = bytes(self._tail).decode("utf-8", "replace")
        return Output(text + (f"\n… {cut:,} bytes are not shown …\n" if cut else "") + tail, cut)


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
        self._channels = [_Channel(ours, self._broken) for ours, _ in pairs]
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
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    @property
    def strength(self) -> Strength:
        """What was found to hold here. Known long before it is ready for work."""
        if self._strength is None:
            told, _ = self._channels[0].message(_START_SECONDS)
            found = told["tier"]
            self._strength = Strength(Tier(found["tier"]), found["layers"], found["missing"])
        return self._strength

    def start(self, limits: Limits, *, accelerator: bool = False, virtual: int | None = None) -> "Process":
        """A fresh process for one job.

        With `accelerator`, a real one, its memory is not limited: CUDA reserves far more address space than it uses.

        `virtual`: the bytes of the virtual accelerator, None for a job without it. Unavailable if this machine cannot
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
        pipes = _Pipes(to_requests, from_answers, from_out, from_err, from_whereabouts)
        return Process(channel, name, process, handle, pipes, limits)

    def _broken(self, why: str) -> SandboxBroken:
        self.broken = True
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
        last = f"; its last words: {said}" if said else ""
        return SandboxBroken(f"the sandbox process does not work: {why}{last}")


class _Channel:
    """The line to one fork server: jobs go out with their descriptors, one line of JSON comes back for each event."""

    def __init__(self, control: socket.socket, broken: Callable[[str], SandboxBroken]) -> None:
        self._control = control
        self._broken = broken
        self._ended: dict[str, _End] = {}
        self._buffer = bytearray()
        #: What it said when it was ready.
        self.hello: dict[str, Any] | None = None

    def close(self) -> None:
        self._control.close()

    def wait_until_ready(self) -> dict[str, Any]:
        if self.hello is None:
            self.hello, _ = self.message(_START_SECONDS)
        return self.hello

    def start(self, job: dict[str, Any], descriptors: list[int]) -> tuple[int, int | None]:
        """Asks for a job's process; returns its id, and a descriptor that stands for it where the system has such."""
        try:
            socket.send_fds(self._control, [json.dumps(job).encode()], descriptors)
        except OSError:
            raise self._broken("it no longer takes jobs") from None
        message, handles = self.message(_START_SECONDS)
        while "started" not in message:
            self._note(message)
            message, handles = self.message(_START_SECONDS)
        return message["process"], handles[0] if handles else None

    def wait_end(self, name: str) -> "_End":
        """How the named job's process ended. All that it started is gone then."""
        while name not in self._ended:
            self._note(self.message(_END_SECONDS)[0])
        return self._ended.pop(name)

    def _note(self, message: dict[str, Any]) -> None:
        self._ended[message["ended"]] = _End(message["status"], message["cpu"], message["over"])

    def message(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        """The next line from the fork server, with the descriptors that came along."""
        deadline = time.monotonic() + seconds
        descriptors: list[int] = []
        while b"\n" not in self._buffer:
            if not select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise self._broken(f"it did not answer in {seconds:g} seconds")
            data, more, _, _ = socket.recv_fds(self._control, _MESSAGE, 1)
            descriptors += more
            if not data:
                raise self._broken("it ended")
            self._buffer += data
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return json.loads(line), descriptors


@dataclass(frozen=True)
class _End:
    """How a job's process ended."""

    #: Its exit code, or minus the signal.
    status: int
    #: Seconds of CPU time.
    cpu: float = 0.0
    #: Its processes together had more memory than the limit, and were ended.
    over: bool = False


@dataclass(frozen=True)
class _Pipes:
    requests: int
    answers: int
    out: int
    err: int
    whereabouts: int


class Process:
    """One job's process: asked one thing at a time, until it is closed or gives no answer."""

    def __init__(
        self, channel: _Channel, name: str, process: int, handle: int | None, pipes: _Pipes, limits: Limits
    ) -> None:
        self._channel = channel
        self._name = name
        self._process = process
        self._handle = handle
        self._pipes = pipes
        self._open = {pipes.answers, pipes.out, pipes.err}
        self._limits = limits
        self._asked = 0
        self._captures = {pipes.out: _Capture(), pipes.err: _Capture()}
        self._answer = bytearray()
        self._end: _End | None = None
        self._killed_for_memory = _kills_for_memory()
        #: Bytes of all answers so far.
        self.received = 0
        self._said_last = ""
        os.set_blocking(pipes.requests, False)
        try:
            self.limits: tuple[str, ...] = tuple(self._receive(b"", _START_SECONDS)["limits"])
        except Stopped as stopped:
            raise SandboxBroken(f"a job could not be confined: {stopped.reason} {self.stderr.text}") from None

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._end is None

    @property
    def stdout(self) -> Output:
        return self._captures[self._pipes.out].output()

    @property
    def stderr(self) -> Output:
        return self._captures[self._pipes.err].output()

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to `request`. Stopped, with the process gone, if none comes within `seconds` (wall clock)."""
        self._refuse_early_answers()
        self._asked += 1
        return self._receive(wire.encode(request | {"id": self._asked}), seconds)

    def close(self) -> None:
        """Kills the process and all that it started, and takes in what it had still printed. Idempotent."""
        if self._end is not None:
            return
        self._signal(signal.SIGKILL)
        self._end = _End(-signal.SIGKILL)  # if the sandbox is too broken to tell
        try:
            self._end = self._channel.wait_end(self._name)
            for stream in (self._pipes.out, self._pipes.err):
                while stream in self._open and not self._flooded:
                    self._take_output(stream)
            self._said_last = self._whereabouts(0)
        finally:
            for descriptor in astuple(self._pipes):
                os.close(descriptor)
            if self._handle is not None:
                os.close(self._handle)

    @property
    def _flooded(self) -> bool:
        return sum(capture.total for capture in self._captures.values()) > self._limits.output

    def _receive(self, request: bytes, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        rest = memoryview(request)
        try:
            while (answer := self._whole_answer()) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._signal(signal.SIGUSR2)
                    said = self._whereabouts(_GRACE_SECONDS)
                    raise Stopped(Ended.TIMED_OUT, f"took longer than {seconds:g} seconds and was stopped", said)
                if self._pipes.answers not in self._open:
                    raise self._death()
                ready, writable, _ = select.select(list(self._open), [self._pipes.requests] if rest else [], [], left)
                if writable:
                    rest = self._send(rest)
                for stream in (self._pipes.out, self._pipes.err):
                    if stream in ready:
                        self._take_output(stream)
                if self._flooded:
                    size = f"{self._limits.output / (1 << 20):g} MiB"
                    raise Stopped(Ended.TOO_MUCH_OUTPUT, f"printed more than {size} and was stopped")
                if self._pipes.answers in ready:
                    self._take(self._pipes.answers, self._answer)
        except Stopped:
            self.close()
            raise
        return answer

    def _refuse_early_answers(self) -> None:
        """Stopped if the channel has something in it that nobody has asked for."""
        if self._pipes.answers in self._open and select.select([self._pipes.answers], [], [], 0)[0]:
            self._take(self._pipes.answers, self._answer)
        if self._answer:
            self.close()
            raise Stopped(Ended.GARBLED, "sent the judge something that it had not asked for")

    def _send(self, rest: memoryview) -> memoryview:
        try:
            return rest[os.write(self._pipes.requests, rest[:_CHUNK]) :]
        except BrokenPipeError:  # it is dead: its answers' end says so next
            return rest[len(rest) :]

    def _whole_answer(self) -> dict[str, Any] | None:
        """The answer if all of it is here. Stopped if it is not the one that was asked for."""
        size = wire.LENGTH.size
        if len(self._answer) < size:
            return None
        (length,) = wire.LENGTH.unpack_from(self._answer)
        try:
            if length > wire.MAX_FRAME:
                raise wire.FrameError(f"{length:,} bytes")
            if len(self._answer) < size + length:
                return None
            if len(self._answer) > size + length:
                raise wire.FrameError("more than an answer")
            frame, self._answer = self._answer, bytearray()
            self.received += length
            answer: Any = wire.decode(memoryview(frame)[size:])
            if not isinstance(answer, dict) or type(answer.get("id")) is not int or answer["id"] != self._asked:
                raise wire.FrameError("an answer to another question")
        except wire.FrameError as error:
            raise Stopped(Ended.GARBLED, f"sent the judge something that is no answer ({error})") from None
        for stream in (self._pipes.out, self._pipes.err):  # what was printed before the answer is in the pipe by now
            while stream in self._open and not self._flooded and select.select([stream], [], [], 0)[0]:
                self._take_output(stream)
        return answer

    def _take_output(self, stream: int) -> None:
        data = bytearray()
        self._take(stream, data)
        self._captures[stream].add(bytes(data))

    def _take(self, stream: int, into: bytearray) -> None:
        data = os.read(stream, _CHUNK)
        if data:
            into += data
        else:
            self._open.discard(stream)

    def _death(self) -> Stopped:
        """Why the process ended without an answer, as its exit status tells."""
        ended_itself = self._handle is None or select.select([self._handle], [], [], _GRACE_SECONDS)[0]
        self.close()
        if not ended_itself:
            return Stopped(Ended.GARBLED, "closed the channel to the judge")
        assert self._end is not None
        if self._end.over:
            size = f"{self._limits.memory / (1 << 30):g} GiB"
            return Stopped(Ended.OUT_OF_MEMORY, f"needed more memory than the limit of {size}, in all its processes")
        if self._end.cpu >= self._limits.cpu:
            spent = f"used more than {self._limits.cpu:g} seconds of CPU time and was stopped"
            return Stopped(Ended.TIMED_OUT, spent, self._said_last)
        if self._end.status >= 0:
            ended = f"ended the process with exit code {self._end.status} before there was an answer"
            return Stopped(Ended.DIED, ended)
        number = -self._end.status
        if number == signal.SIGKILL and _kills_for_memory() > self._killed_for_memory:
            return Stopped(Ended.JUDGE, "this machine had no memory left, and its system ended the job")
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        reason = f"the process was killed by {name} ({signal.strsignal(number) or 'unknown'})"
        return Stopped(Ended.DIED, reason, self._said_last)

    def _whereabouts(self, seconds: float) -> str:
        """The traceback that the process writes, piece by piece, waiting at most `seconds` for its end."""
        deadline = time.monotonic() + seconds
        said = ""
        while not _WHOLE.search(said) and len(said) < _CHUNK:
            if said and time.monotonic() > deadline:  # a piece at a time, for as long as it likes
                break
            if not select.select([self._pipes.whereabouts], [], [], max(0.0, deadline - time.monotonic()))[0]:
                break
            data = os.read(self._pipes.whereabouts, _CHUNK)
            if not data:
                break
            said += data.decode("utf-8", "replace")
        return said

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself; its status tells how
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, number)
            else:
                os.kill(self._process, number)


def _kills_for_memory() -> int:
    """How many processes the system has ended so far because the machine, or its container, had no memory left."""
    try:
        with open("/proc/vmstat", encoding="ascii") as counters:  # noqa: PTH123 - read for every job
            return sum(int(line.split()[1]) for line in counters if line.startswith("oom_kill "))
    except OSError:  # no such file on this system
        return 0


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
