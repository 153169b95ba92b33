"""Evidence: what came back from the sandbox about one played scenario. Testimony, so every access checks its type."""

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from proctorch import wire
from proctorch.devices import Device
from proctorch.judge.checks import count_not_finite, fail
from proctorch.judge.grade import Moment, Place, Verdict

if TYPE_CHECKING:
    import torch


_T = TypeVar("_T")


class Ended(enum.Enum):
    """How the playing of a scenario, or the loading of the submission, ended."""

    ANSWERED = enum.auto()
    #: The file does not parse, or does not define what the question asks for.
    INVALID = enum.auto()
    #: The candidate's code raised, or returned what the scenario could not go on with.
    RAISED = enum.auto()
    #: The process ended itself, or was ended by a signal that is not the judge's.
    DIED = enum.auto()
    #: The answer was no frame of plain data.
    GARBLED = enum.auto()
    TOO_MUCH_OUTPUT = enum.auto()
    TOO_MANY_PROCESSES = enum.auto()
    TOO_MANY_FILES = enum.auto()
    OUT_OF_MEMORY = enum.auto()
    TIMED_OUT = enum.auto()
    #: The grader or the sandbox itself broke.
    JUDGE = enum.auto()

    @property
    def verdict(self) -> Verdict:
        """What this end alone makes of the job; ACCEPTED if nothing."""
        return _VERDICTS[self]


_VERDICTS = {
    Ended.ANSWERED: Verdict.ACCEPTED,
    Ended.INVALID: Verdict.INVALID,
    Ended.RAISED: Verdict.RUNTIME_ERROR,
    Ended.DIED: Verdict.RUNTIME_ERROR,
    Ended.GARBLED: Verdict.RUNTIME_ERROR,
    Ended.TOO_MUCH_OUTPUT: Verdict.OUTPUT_LIMIT,
    Ended.TOO_MANY_PROCESSES: Verdict.PROCESS_LIMIT,
    Ended.TOO_MANY_FILES: Verdict.FILE_LIMIT,
    Ended.OUT_OF_MEMORY: Verdict.MEMORY_LIMIT,
    Ended.TIMED_OUT: Verdict.TIME_LIMIT,
    Ended.JUDGE: Verdict.JUDGE_ERROR,
}


@dataclass(frozen=True)
class Copy:
    """One copy between devices: `bytes` arriving on `target`; `line` is the candidate's, if known."""

    source: str
    target: str
    bytes: int
    line: int | None


@dataclass(frozen=True)
class Read:
    """One scalar read, such as `.item()` or a tensor in an `if`, of a tensor on `device`."""

    device: str
    line: int | None


@dataclass(frozen=True)
class Op:
    """One kind of operation: dtypes of its tensor inputs and of its first output, where it ran, and under what.

    `autocast` is whether autocast was on, for the device's type, where torch was called.
    """

    name: str
    inputs: tuple[str, ...]
    output: str | None
    device: str
    backward: bool
    autocast: bool


@dataclass(frozen=True)
class Warned:
    """A warning that was given. `line` is set if it points into the candidate's file."""

    category: str
    message: str
    line: int | None


@dataclass(frozen=True)
class Trace:
    """What the probe saw inside one `probe.watch`."""

    copies: tuple[Copy, ...] = ()
    reads: tuple[Read, ...] = ()
    ops: dict[Op, int] = field(default_factory=dict)
    #: Bytes by device of the storages that were made inside: at the end, and at most at any one time.
    live: dict[str, int] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()
    #: The state of autocast at the end differs from that at the start.
    autocast_left_on: bool = False


def read_trace(told: Any) -> Trace:
    """A trace from the sandbox's plain data. FrameError if it has not the shape of one."""
    try:
        return Trace(
            copies=tuple(Copy(_str(a), _str(b), _size(size), _line(line)) for a, b, size, line in told["copies"]),
            reads=tuple(Read(_str(device), _line(line)) for device, line in told["reads"]),
            ops={
                _op(name, inputs, output, device, backward, autocast): _size(count)
                for name, inputs, output, device, backward, autocast, count in told["ops"]
            },
            live={_str(device): _size(size) for device, size in told["live"].items()},
            peak={_str(device): _size(size) for device, size in told["peak"].items()},
            warnings=tuple(Warned(_str(kind), _str(text), _line(line)) for kind, text, line in told["warnings"]),
            autocast_left_on=checked(bool, told["autocast_left_on"]),
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise wire.FrameError(f"no trace: {type(error).__name__}") from None


def read_moments(told: Any) -> tuple[Moment, ...]:
    """The memory's moments from the sandbox's plain data. FrameError if it has not the shape of them."""
    try:
        if len(checked(list, told)) > _MAX_MOMENTS:
            raise ValueError("too many")
        return tuple(Moment(_seconds(seconds), _size(live), _size(failed)) for seconds, live, failed in told)
    except (TypeError, ValueError) as error:
        raise wire.FrameError(f"no moments: {type(error).__name__}") from None


def checked(kind: type[_T], value: Any) -> _T:
    """The value, if it is of exactly this type. TypeError if it is not."""
    if type(value) is not kind:
        raise TypeError(f"not a {kind.__name__}")
    return value


def line_number(value: Any) -> int:
    """A line of a file. TypeError or ValueError if it is none."""
    if not 0 <= checked(int, value) <= _MAX_LINE:
        raise ValueError("not a line")
    return int(value)


def _op(name: Any, inputs: Any, output: Any, device: Any, backward: Any, autocast: Any) -> Op:
    output = None if output is None else _str(output)
    given = tuple(map(_str, inputs))
    return Op(_str(name), given, output, _str(device), checked(bool, backward), checked(bool, autocast))


def _str(value: Any) -> str:
    """A text, of which no more is kept than can be read."""
    return checked(str, value)[:_MAX_TEXT]


def _size(value: Any) -> int:
    """Bytes, or how many."""
    if not 0 <= checked(int, value) < _LARGE:
        raise ValueError("not a size")
    return int(value)


def _seconds(value: Any) -> float:
    if not 0 <= checked(float, value) <= _MAX_SECONDS:
        raise ValueError("not a time")
    return float(value)


def _line(value: Any) -> int | None:
    return None if value is None else line_number(value)


#: Larger than any that is true, and so small that sums and plots of them are sound.
_MAX_LINE = 1 << 24
_MAX_SECONDS = 1e6
_MAX_TEXT = 1000
_MAX_MOMENTS = 1000
_ABSENT = wire.Opaque("nothing")
_LARGE = 1 << 63


@dataclass(frozen=True)
class Evidence:
    """What came back about one scenario.

    The typed accessors take a path of keys and indices into `value` and fail the check, in words for the candidate,
    where what is there is not what they are asked for. `what` names the thing in that message; by default the path
    does.
    """

    ended: Ended
    value: Any = None
    #: One line for the candidate if it did not end well, else empty.
    reason: str = ""
    place: Place | None = None
    #: The whole traceback or story, for the interviewer.
    detail: str = ""
    traces: dict[str, Trace] = field(default_factory=dict)
    #: The accelerator's memory as time went by, where it is observed.
    moments: tuple[Moment, ...] = ()
    seconds: float = 0.0

    def trace(self, name: str = "main") -> Trace:
        """What `probe.watch(name)` saw. Fails the check if the watch was never entered."""
        if name not in self.traces:
            fail("the code ended before the part that is looked at")
        return self.traces[name]

    def get(self, *path: str | int) -> Any:
        """What is there, of whatever type, or None if nothing is."""
        found = self._find(path)
        return None if found is _ABSENT else found

    def tensor(
        self,
        *path: str | int,
        what: str | None = None,
        dtype: str | None = None,
        shape: tuple[int, ...] | None = None,
        device: Device | str | None = None,
        finite: bool = True,
    ) -> "torch.Tensor":
        """A plain tensor, on the CPU; `device` is where it was in the sandbox, `dtype` without the `torch.`."""
        found, name = self._find(path), what or _name(path)
        if not isinstance(found, wire.Received):
            fail(f"{name} is {_kind(found)}, not a plain tensor")
        tensor = found.tensor
        if shape is not None and tuple(tensor.shape) != shape:
            fail(f"{name} has the shape {tuple(tensor.shape)}", detail=f"expected {shape}")
        if dtype is not None and str(tensor.dtype) != f"torch.{dtype}":
            fail(f"{name} has the dtype {str(tensor.dtype).removeprefix('torch.')}, not {dtype}")
        if device is not None and found.device != (wanted := device.torch if isinstance(device, Device) else device):
            fail(f"{name} is on {found.device}, not on {wanted}")
        if finite and count_not_finite(tensor):
            fail(f"{name} is not finite (nan or inf)")
        return tensor

    def received(self, *path: str | int, what: str | None = None) -> wire.Received:
        """A plain tensor with what it was in the sandbox: device, requires_grad, is_leaf."""
        found = self._find(path)
        if not isinstance(found, wire.Received):
            fail(f"{what or _name(path)} is {_kind(found)}, not a plain tensor")
        return found

    def number(self, *path: str | int, what: str | None = None) -> float:
        """An int of at most 64 bits or a float; a bool is none."""
        found = self._find(path)
        if type(found) is float or (type(found) is int and -_LARGE <= found < _LARGE):
            return found
        fail(f"{what or _name(path)} is {'out of range' if type(found) is int else f'{_kind(found)}, not a number'}")

    def text(self, *path: str | int, what: str | None = None) -> str:
        found = self._find(path)
        if type(found) is str:
            return found
        fail(f"{what or _name(path)} is {_kind(found)}, not a text")

    def flag(self, *path: str | int, what: str | None = None) -> bool:
        found = self._find(path)
        if type(found) is bool:
            return found
        fail(f"{what or _name(path)} is {_kind(found)}, not True or False")

    def list(self, *path: str | int, what: str | None = None) -> list[Any]:
        """A list or a tuple."""
        found = self._find(path)
        if isinstance(found, (list, tuple)):
            return [*found]
        fail(f"{what or _name(path)} is {_kind(found)}, not a list")

    def dict(self, *path: str | int, what: str | None = None) -> dict[Any, Any]:
        found = self._find(path)
        if isinstance(found, dict):
            return found
        fail(f"{what or _name(path)} is {_kind(found)}, not a dict")

    def _find(self, path: tuple[str | int, ...]) -> Any:
        value = self.value
        for step in path:
            in_dict = isinstance(value, dict) and step in value
            in_list = isinstance(value, (list, tuple)) and isinstance(step, int) and -len(value) <= step < len(value)
            if not (in_dict or in_list):
                return _ABSENT
            value = value[step]
        return value


def _name(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path)).replace("_", " ") or "the result"


def _kind(value: Any) -> str:
    """What a value is, in words for the candidate."""
    match value:
        case None:
            return "None"
        case wire.Received():
            return "a tensor"
        case wire.Named():
            return f"a {value.type}"
        case wire.Opaque():
            return "missing" if value is _ABSENT else _a(value.type)
        case _:
            return _a(type(value).__name__)


def _a(name: str) -> str:
    return f"an {name}" if name.startswith(("a", "e", "i", "o")) else f"a {name}"
