"""Copies between devices: the `copy_` kernel, the log of what crossed, and downloads that arrive late on request."""

import contextlib
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from proctorch.virtual import state, streams
from proctorch.virtual.relabel import CPU_KERNELS, on_host

_LOG_LIMIT = 10_000
_LATE = 0xFF  # what fresh pinned memory holds while downloads are late: NaN, or -1
_copy: Any = torch.ops.aten.copy_.default._handle.redispatch_boxed
_clone: Any = torch.ops.aten.clone.default._handle.redispatch_boxed


@dataclass(frozen=True)
class Copy:
    """`size` bytes that went from one device to another. `read` marks a single value read by the host (`.item()`)."""

    seconds: float
    source: str
    target: str
    size: int
    non_blocking: bool
    read: bool = False

    @property
    def direction(self) -> str:
        """'upload' (to a device), 'download' (to the host) or 'peer' (between two devices)."""
        return "upload" if self.source == "cpu" else "download" if self.target == "cpu" else "peer"


_log: deque[Copy] = deque(maxlen=_LOG_LIMIT)
_late = False


def copies() -> list[Copy]:
    """The copies between devices since the device was turned on or the log was cleared: the latest 10,000."""
    return list(_log)


def clear_copies() -> None:
    _log.clear()


def note(source: torch.Tensor, target: torch.device, *, non_blocking: bool = False, read: bool = False) -> None:
    size = source.numel() * source.element_size()
    _log.append(Copy(time.perf_counter(), str(source.device), str(target), size, non_blocking, read))


@contextlib.contextmanager
def delay_downloads() -> Iterator[None]:
    """Inside, a non-blocking copy to pinned host memory arrives only when the host waits for it.

    Until then a tensor made by `.to("cpu", non_blocking=True)` holds NaN (-1 for integers), a pinned buffer its old
    values: code that reads too early, which on a real device goes wrong now and then, goes wrong every time. What is
    under way at the end arrives then.
    """
    global _late  # noqa: PLW0603 - one switch for the process, as is the device
    before = _late
    pinned = state.machinery().pinned
    _late, pinned.fill = True, _LATE
    try:
        yield
    finally:
        _late = before
        if not before:
            pinned.fill = None
            streams.wait_for_device()


def copy_(target: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """The `copy_` kernel: within a device, between two, or between a device and the host."""
    into = target.get_device()
    out_of = source.get_device()
    host_target = on_host(target) if into >= 0 else target
    host_source = on_host(source) if out_of >= 0 else source
    if into != out_of:
        note(source, target.device, non_blocking=non_blocking)
        if not target.numel():  # torch's own `copy_` ends here, before a driver is asked: nobody waits
            return target
        if into < 0:
            if not non_blocking:
                streams.wait_for_current(out_of)
            elif _late and state.machinery().pinned.holds(target.data_ptr()):
                snapshot = _clone(CPU_KERNELS, host_source)
                streams.delay(lambda: _copy(CPU_KERNELS, host_target, snapshot, False), out_of)
                return target
            else:  # into memory that is not pinned: the driver returns when the copy is done
                streams.wait_for_stream(streams.current(out_of))
        elif out_of < 0 and not non_blocking:
            streams.wait_for_current(into)
    _copy(CPU_KERNELS, host_target, host_source, False)
    return target


def read_value(tensor: torch.Tensor) -> Any:
    """The `_local_scalar_dense` kernel: `.item()`, `float(x)`, `if x:`. The host waits for the current stream."""
    note(tensor, torch.device("cpu"), read=True)
    streams.wait_for_current(tensor.get_device())
    return on_host(tensor).item()
