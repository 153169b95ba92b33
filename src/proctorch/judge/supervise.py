"""Keeps one job's process in the sandbox: deadlines, caps on output, kills, and the account of how it ended.

Nothing that comes back is believed: a process that ends, is silent, prints without end or sends garbage has its own
`Stopped`.
"""

import contextlib
import os
import re
import select
import signal
import time
from dataclasses import astuple, dataclass
from typing import Any

from proctorch import wire
from proctorch.bank.question import Limits
from proctorch.judge.channel import START_SECONDS, Channel, End, SandboxBroken
from proctorch.judge.evidence import Ended
from proctorch.judge.grade import Output

#: On a busy machine a process may stand in line for a core; for that it gets, at most, so many times its seconds more.
_PATIENCE = 3
#: How long a process whose answers have ended may take to be dead.
_GRACE_SECONDS = 1.0
_KEPT = 16 << 10
_CHUNK = 1 << 16
#: The end of a traceback of faulthandler's: the outermost frame of a program started with `-m`, or a cut.
_WHOLE = re.compile(r" in _run_module_as_main\n|^  \.\.\.\n", re.MULTILINE)


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


@dataclass(frozen=True)
class Pipes:
    requests: int
    answers: int
    out: int
    err: int
    whereabouts: int


class _Deadline:
    """Seconds of the wall clock, but for those in which a process stood in line for a core."""

    def __init__(self, handle: int | None, seconds: float) -> None:
        self._process = _process_id(handle)
        self._seconds = seconds
        self._began = time.monotonic()
        self._queued = self._in_line()

    def left(self) -> float:
        """How many seconds are left, at least; 0.0 and less if none are."""
        left = self._seconds - (time.monotonic() - self._began)
        return left if left > 0 else left + min(self._in_line() - self._queued, _PATIENCE * self._seconds)

    def _in_line(self) -> float:
        """For how long of its life the first thread of the process could have run, and had no core. Linux only."""
        try:
            with open(f"/proc/{self._process}/schedstat", encoding="ascii") as counters:  # noqa: PTH123 - often read
                return int(counters.read().split()[1]) / 1e9
        except (OSError, IndexError):  # it has ended, or this system does not count it
            return 0.0


def _process_id(handle: int | None) -> int | None:
    """The process of a handle, by its number here: the fork server counts in a namespace of its own."""
    try:
        with open(f"/proc/self/fdinfo/{handle}", encoding="ascii") as told:  # noqa: PTH123 - read for every request
            return next(int(line.split()[1]) for line in told if line.startswith("Pid:"))
    except (OSError, StopIteration):  # no handle, or a system that does not tell
        return None


class Process:
    """One job's process: asked one thing at a time, until it is closed or gives no answer."""

    def __init__(
        self, channel: Channel, name: str, process: int, handle: int | None, pipes: Pipes, limits: Limits
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
        self._end: End | None = None
        self._killed_for_memory = _kills_for_memory()
        #: Bytes of all answers so far.
        self.received = 0
        self._said_last = ""
        os.set_blocking(pipes.requests, False)
        try:
            self.limits: tuple[str, ...] = tuple(self._receive(b"", START_SECONDS)["limits"])
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
        """The answer to `request`. Stopped, with the process gone, if none comes within `seconds`.

        Those in which it stood in line for a core do not count (see `_PATIENCE`): they are not the candidate's.
        """
        self._refuse_early_answers()
        self._asked += 1
        return self._receive(wire.encode(request | {"id": self._asked}), seconds)

    def close(self) -> None:
        """Kills the process and all that it started, and takes in what it had still printed. Idempotent."""
        if self._end is not None:
            return
        self._signal(signal.SIGKILL)
        self._end = End(-signal.SIGKILL)  # if the sandbox is too broken to tell
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
        deadline = _Deadline(self._handle, seconds)
        rest = memoryview(request)
        try:
            while (answer := self._whole_answer()) is None:
                left = deadline.left()
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
