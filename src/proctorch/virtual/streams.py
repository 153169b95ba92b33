"""Streams and events, and the copies to the host that wait for them.

Every operation of the virtual device is done when it returns, so a stream is only a name. The one thing that may lag
is a non-blocking copy to pinned host memory, and only on request (`delay_downloads`): its bytes arrive when the host
waits for them — for the device, the stream, an event recorded after it, or a blocking read on a stream that comes
after it. Waiting on the device's side (`wait_stream`, `wait_event`) orders streams and lets nothing arrive, as on a
real device.
"""

import itertools
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, Self

import torch

from proctorch.virtual import state

_numbers = itertools.count(1)
_lock = threading.RLock()
_DELAYED_AT_MOST = 1000


class _Delayed:
    """A copy under way: `arrive` writes its bytes; `streams` are those whose end implies its end."""

    def __init__(self, arrive: Callable[[], None], stream: tuple[int, int]) -> None:
        self.arrive = arrive
        self.streams = {stream}


_delayed: list[_Delayed] = []


def delay(arrive: Callable[[], None], device: int) -> None:
    """Holds a copy on the current stream of `device` back until the host waits for it."""
    with _lock:
        if len(_delayed) >= _DELAYED_AT_MOST:
            _arrive(_delayed[:1])
        _delayed.append(_Delayed(arrive, current(device)))


def wait_for_device(device: int | None = None) -> None:
    """What was held back on any stream of `device` (of all devices, if None) arrives."""
    if _delayed:
        with _lock:
            _arrive(
                [each for each in _delayed if device is None or any(stream[0] == device for stream in each.streams)]
            )


def wait_for_stream(stream: tuple[int, int]) -> None:
    """What was held back on `stream`, a device and a number, arrives."""
    if _delayed:
        with _lock:
            _arrive([each for each in _delayed if stream in each.streams])


def wait_for_current(device: int) -> None:
    """The host is about to wait for the current stream of `device`, for a value or for a blocking copy."""
    if _sync.debug_mode:
        _complain_of_waiting()
    if _delayed:
        wait_for_stream(current(device))


class _Sync:
    debug_mode = 0  # 0: let it be, 1: warn, 2: refuse


_sync = _Sync()


def sync_debug_mode() -> int:
    return _sync.debug_mode


def set_sync_debug_mode(mode: int) -> None:
    """What happens when the host waits without having said so (`torch.cuda.set_sync_debug_mode`): 0, 1 or 2."""
    _sync.debug_mode = mode


def _complain_of_waiting() -> None:
    """`c10/cuda/CUDAFunctions.cpp`, warn_or_error_on_sync."""
    if _sync.debug_mode > 1:
        raise RuntimeError("called a synchronizing CUDA operation")
    warnings.warn("called a synchronizing CUDA operation", UserWarning, stacklevel=4)


def _arrive(copies: list[_Delayed]) -> None:
    for copy in copies:
        if copy in _delayed:
            _delayed.remove(copy)
            copy.arrive()


class _Selected(threading.local):
    """The current stream's number on each device, in this thread; 0 is the default stream."""

    def __init__(self) -> None:
        self.streams: dict[int, int] = {}


_selected = _Selected()


def current(device: int) -> tuple[int, int]:
    return device, _selected.streams.get(device, 0)


def select(device: int, number: int) -> None:
    _selected.streams[device] = number


_TorchStream: Any = torch.Stream
_TorchEvent: Any = torch.Event
_CUDA = 1  # DeviceType::CUDA


class Stream(_TorchStream):
    """Takes the place of `torch.cuda.Stream`; a `torch.Stream` for C++, which asks for device and number."""

    def __new__(cls, device: Any = None, priority: int = 0, **known: int) -> Self:
        """`known` are stream_id, device_index and device_type of a stream that exists."""
        if "stream_id" not in known:
            index = torch.cuda._utils._get_device_index(device, optional=True)
            index = state.index_of(torch.device("cuda", index))
            known = {"stream_id": next(_numbers), "device_index": index}
        self: Self = super().__new__(cls, **{**known, "device_type": _CUDA})
        self.priority = priority
        self.cuda_stream = self.stream_id
        return self

    def __init__(self, device: Any = None, priority: int = 0, **known: int) -> None:
        pass

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The lowest and the highest priority; they change nothing here."""
        return 0, -5

    @property
    def _key(self) -> tuple[int, int]:
        return self.device_index, self.stream_id

    def query(self) -> bool:
        """Always true: asking repeatedly is a way of waiting, so what was held back arrives."""
        wait_for_stream(self._key)
        return True

    def synchronize(self) -> None:
        if _sync.debug_mode:
            _complain_of_waiting()
        wait_for_stream(self._key)

    def wait_stream(self, stream: "Stream") -> None:
        with _lock:
            for each in _delayed:
                if stream._key in each.streams:
                    each.streams.add(self._key)

    def wait_event(self, event: "Event") -> None:
        event.wait(self)

    def record_event(self, event: "Event | None" = None) -> "Event":
        event = Event() if event is None else event
        event.record(self)
        return event

    def is_capturing(self) -> bool:
        return False

    def __enter__(self) -> Self:
        self._context = torch.cuda.StreamContext(self)
        self._context.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._context.__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """Takes the place of `torch.cuda.ExternalStream`."""

    def __new__(cls, stream_ptr: int, device: Any = None, **_: Any) -> Self:
        index = torch.cuda._utils._get_device_index(device, optional=True)
        return super().__new__(cls, stream_id=stream_ptr, device_index=index)

    def __init__(self, stream_ptr: int, device: Any = None, **_: Any) -> None:
        pass


class Event(_TorchEvent):
    """Takes the place of `torch.cuda.Event`. Times are host times: there is no other clock here."""

    _time: float | None
    _before: list[_Delayed]

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any) -> Self:
        self: Self = super().__new__(cls, "cuda", enable_timing=enable_timing, blocking=blocking)
        self.enable_timing, self.blocking, self.interprocess = enable_timing, blocking, interprocess
        self.cuda_event = next(_numbers)
        self._time = None
        self._before = []
        return self

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def record(self, stream: Stream | None = None) -> None:
        key = current(torch.cuda.current_device()) if stream is None else stream._key
        with _lock:
            self._before = [each for each in _delayed if key in each.streams]
        self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        key = current(torch.cuda.current_device()) if stream is None else stream._key
        with _lock:
            for each in self._before:
                each.streams.add(key)

    def query(self) -> bool:
        """Always true, as for a stream."""
        with _lock:
            _arrive(self._before)
        return True

    def synchronize(self) -> None:
        with _lock:
            _arrive(self._before)

    def elapsed_time(self, end_event: Any) -> float:
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(end_event._time - self._time) * 1e3

    def __repr__(self) -> str:
        return "<torch.cuda.Event uninitialized>" if self._time is None else f"<torch.cuda.Event {self.cuda_event:#x}>"


class _Replacement(type):
    """A class that makes ours for cuda and torch's own for other devices, and knows both as its instances."""

    original: Any
    ours: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.original)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.original)

    def __call__(cls, device: Any = None, **options: Any) -> Any:
        if device is None or torch.device(device).type == "cuda":
            return cls.ours(**options) if cls.ours is Event or "stream_id" in options else cls.ours(device, **options)
        return cls.original(device, **options)


class AnyStream(metaclass=_Replacement):
    """Takes the place of `torch.Stream`."""

    original, ours = _TorchStream, Stream


class AnyEvent(metaclass=_Replacement):
    """Takes the place of `torch.Event`."""

    original, ours = _TorchEvent, Event
