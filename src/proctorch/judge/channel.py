"""The line to a fork server: jobs go out with their descriptors, a line of JSON comes back for each event."""

import json
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proctorch.errors import ProctorchError

START_SECONDS = 120.0
END_SECONDS = 20.0
_MESSAGE = 1 << 16


class SandboxBroken(ProctorchError):
    """The sandbox itself does not work; no candidate is to blame."""


@dataclass(frozen=True)
class End:
    """How a job's process ended."""

    #: Its exit code, or minus the signal.
    status: int
    #: Seconds of CPU time.
    cpu: float = 0.0
    #: Its processes together had more memory than the limit, and were ended.
    over: bool = False


class Channel:
    """The line to one fork server: jobs go out with their descriptors, one line of JSON comes back for each event."""

    def __init__(self, control: socket.socket, broken: Callable[[str], SandboxBroken]) -> None:
        self._control = control
        self._broken = broken
        self._ended: dict[str, End] = {}
        self._buffer = bytearray()
        #: What it said when it was ready.
        self.hello: dict[str, Any] | None = None

    def close(self) -> None:
        self._control.close()

    def wait_until_ready(self) -> dict[str, Any]:
        if self.hello is None:
            self.hello, _ = self.message(START_SECONDS)
        return self.hello

    def start(self, job: dict[str, Any], descriptors: list[int]) -> tuple[int, int | None]:
        """Asks for a job's process; returns its id, and a descriptor that stands for it where the system has such."""
        try:
            socket.send_fds(self._control, [json.dumps(job).encode()], descriptors)
        except OSError:
            raise self._broken("it no longer takes jobs") from None
        message, handles = self.message(START_SECONDS)
        while "started" not in message:
            self._note(message)
            message, handles = self.message(START_SECONDS)
        return message["process"], handles[0] if handles else None

    def wait_end(self, name: str) -> End:
        """How the named job's process ended. All that it started is gone then."""
        while name not in self._ended:
            self._note(self.message(END_SECONDS)[0])
        return self._ended.pop(name)

    def _note(self, message: dict[str, Any]) -> None:
        self._ended[message["ended"]] = End(message["status"], message["cpu"], message["over"])

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
