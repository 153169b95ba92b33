"""What `proctorch.virtual` offers; imported with torch at the first use of one of its names."""

import contextlib
from collections.abc import Iterator, Sequence

from proctorch.virtual import front_end, install, memory, selftest, state
from proctorch.virtual.memory import MemoryStats, Moment
from proctorch.virtual.transfers import Copy, clear_copies, copies, delay_downloads

__all__ = [
    "Copy",
    "MemoryStats",
    "Moment",
    "Unsupported",
    "clear_copies",
    "copies",
    "cuda",
    "delay_downloads",
    "disable",
    "enable",
    "has_real_device",
    "is_enabled",
    "memory_stats",
    "occupy",
    "record_timeline",
    "register",
    "timeline",
    "unsupported",
]

Memory = int | str | Sequence[int | str] | None


class Unsupported(RuntimeError):
    """This torch, platform or machine cannot have a virtual device; the message says why."""


def enable(memory: Memory = None, devices: int | None = None) -> None:
    """Turns the virtual device on, for the whole process.

    `memory` is what each device has: '256MiB', a number of bytes, or a sequence with one such size for each device; 8
    GiB if it is not given. `devices` is how many there are, 1 to 4. ValueError for a size or number that is none,
    RuntimeError if the device is on already, Unsupported where there cannot be one.
    """
    budgets = _budgets(memory, devices)
    if is_enabled():
        raise RuntimeError("the virtual device is on already: turn it off with disable() first")
    if not state.is_registered():
        register()
        if not selftest.backward_works():
            raise Unsupported(
                "a backward pass has run in this process before, and torch's autograd engine cannot learn of a device"
                " after that: call enable() or register() earlier (in a test suite: pytest --virtual-cuda)"
            )
    front_end.put_in_place(budgets)
    clear_copies()


def disable() -> None:
    """Turns the virtual device off, if it is on: torch is without CUDA again. Tensors on it stay usable."""
    if is_enabled():
        front_end.take_away()


@contextlib.contextmanager
def cuda(memory: Memory = None, devices: int | None = None) -> Iterator[None]:
    """The virtual device is on inside. See `enable`."""
    enable(memory, devices)
    try:
        yield
    finally:
        disable()


def register() -> None:
    """The part of `enable` that is slow and permanent, for a process that forks: its children then enable at once.

    The device stays off. Unsupported where there cannot be one.
    """
    if state.is_registered():
        return
    reason = unsupported()
    if reason is not None:
        raise Unsupported(reason)
    try:
        install.install()
    except (OSError, LookupError) as error:
        raise Unsupported(f"the virtual device cannot be made: {error}") from None
    failed = selftest.failure()
    if failed is not None:
        raise Unsupported(failed)


def is_enabled() -> bool:
    """Whether the virtual device is on."""
    return state.device_count() > 0


def unsupported() -> str | None:
    """Why this torch, platform or machine cannot have a virtual device, in one line; None if it can."""
    return None if state.is_registered() else selftest.obstacle()


def has_real_device() -> bool:
    """Whether this machine has a CUDA device that is not simulated."""
    return not state.is_registered() and selftest.has_real_device()


def memory_stats(device: int = 0) -> MemoryStats:
    """Live and peak bytes of a device, its budget, allocations and failures; ValueError if there is none such."""
    return _device(device).stats()


@contextlib.contextmanager
def occupy(size: int | str, device: int = 0) -> Iterator[None]:
    """Inside, another program has `size` of a device's memory: '3GiB' or a number of bytes.

    It is not free, and out of memory comes sooner; torch's own counts do not know of it. ValueError for a size that is
    none or is not free, and if there is no such device.
    """
    taken, place = memory.parse_size(size), _device(device)
    place.occupy(taken)
    try:
        yield
    finally:
        place.occupy(-taken)


@contextlib.contextmanager
def record_timeline() -> Iterator[None]:
    """Inside, every allocation, release and failure is noted, for `timeline`. It starts empty."""
    memory.timeline.clear()
    for device in memory.devices:
        device.record(on=True)
    try:
        yield
    finally:
        for device in memory.devices:
            device.settle()
            device.record(on=False)


def timeline() -> list[Moment]:
    """What `record_timeline` noted: the latest 100,000 moments, oldest first."""
    for device in memory.devices:
        device.settle()
    return list(memory.timeline)


def _device(index: int) -> memory.Device:
    count = state.device_count() or len(memory.devices)  # after it is turned off, what there was can still be asked
    if index not in range(count):
        raise ValueError(f"virtual devices are numbered 0 to {count - 1}, and this is {index!r}")
    return memory.devices[index]


def _budgets(sizes: Memory, devices: int | None) -> list[int]:
    return memory.parse_budgets(sizes, devices)
