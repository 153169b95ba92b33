"""What is observed while a candidate's code runs: copies between devices, scalar reads, dtypes, bytes, warnings.

Two of torch's own interception points do it on any device: a dispatch mode sees every operation below autograd (the
backward pass included), a function mode sees `torch.tensor(list, device=…)` and `print`, which dispatch does not. Bytes
are counted by storage, since autograd keeps storages alive after the tensor objects are gone. Everything here is
testimony from the candidate's own process: the judge cross-checks it with values.
"""

import contextlib
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

_MAX_EVENTS = 10_000
_AUTOCAST_TYPES = ("cpu", "cuda", "xpu", "mps")
_COPIES = ("aten._to_copy", "aten.copy_", "aten._copy_from")
_FACTORIES = (torch.tensor, torch.as_tensor, torch.asarray)
_METHODS = (torch.Tensor.new_tensor, torch.Tensor.new)
_SUBSCRIPTS = (torch.Tensor.__getitem__, torch.Tensor.__setitem__)
_CPU = torch.device("cpu")
#: Below these operations, an index on the CPU is copied to the device of what is indexed.
_INDEXING = ("aten.index", "aten._unsafe_index", "aten.index_put", "aten.index_put_", "aten._index_put_impl_")
#: They have a Python value as their result, for which the CPU waits.
_READS = ("aten._local_scalar_dense", "aten.equal")
#: Torch hides from all modes how it makes a text of a tensor's values.
_TEXTS = (torch.Tensor.__repr__, torch.Tensor.__format__)


class Probe:
    """Handed to each scenario. `traces` is what was seen, by the name given to `watch`."""

    def __init__(self, candidate_file: str) -> None:
        self._file = candidate_file
        self.traces: dict[str, dict[str, Any]] = {}
        #: Seconds, live bytes, bytes asked for in vain: the accelerator's memory, where it is observed.
        self.moments: list[list[Any]] = []

    @contextlib.contextmanager
    def watch(self, name: str = "main") -> Iterator[None]:
        """Records what happens inside, as the trace called `name`."""
        trace = _Trace(self._file)
        before = _autocast_state()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with _FunctionWatch(trace), _DispatchWatch(trace):
                    yield
            finally:
                self.traces[name] = trace.plain(caught, autocast_left_on=_autocast_state() != before)

    def attempt(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Calls `function`: `{"returned": value}`, or `{"raised": [type and base names], "message": …, "line": …}`."""
        try:
            return {"returned": function(*args, **kwargs)}
        except Exception as error:  # noqa: BLE001 - a scenario asks what happens, whatever it is
            told = describe_error(error, self._file)
            return {"raised": told["types"], "message": told["message"], "line": told["line"]}

    def describe(self, value: Any) -> dict[str, Any]:
        """What a tensor is without its values; for anything else its type's name alone."""
        if not isinstance(value, torch.Tensor):
            return {"type": type(value).__name__}
        return {
            "type": type(value).__name__,
            "device": str(value.device),
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "requires_grad": value.requires_grad,
            "is_leaf": value.is_leaf,
        }


def describe_error(error: BaseException, candidate_file: str) -> dict[str, Any]:
    """An exception as plain data: type names (its own first), message, and the frames in the candidate's file.

    `frames` are `[line, function]`, outermost first; `line` is the innermost one's, or None.
    """
    try:
        message = str(error)
    except BaseException as worse:  # noqa: BLE001 - the message of a stranger's exception is a stranger's code
        message = f"(its message cannot be shown: {type(worse).__name__})"
    frames: list[list[Any]] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == candidate_file:
            frames.append([trace.tb_lineno, code.co_name])
        trace = trace.tb_next
    line = frames[-1][0] if frames else None
    if isinstance(error, SyntaxError) and error.filename == candidate_file:
        line, message = error.lineno or None, error.msg  # the text of the whole would name file and line again
    return {
        "types": [each.__name__ for each in type(error).__mro__ if each not in (object, BaseException)],
        "message": message[:4000],
        "frames": frames[-20:],
        "line": line,
    }


def _autocast_state() -> dict[str, bool]:
    return {each: torch.is_autocast_enabled(each) for each in _AUTOCAST_TYPES}


class _Trace:
    def __init__(self, candidate_file: str) -> None:
        self._file = candidate_file
        self.copies: list[list[Any]] = []
        self.reads: list[list[Any]] = []
        #: By device type. Below autograd, where operations are seen, torch says that it is off.
        self.autocast = _autocast_state()
        self._ops: dict[tuple[Any, ...], int] = {}
        self._live: dict[str, int] = {}
        self._peak: dict[str, int] = {}
        #: Bytes charged for each storage born inside, by its address; None for one that came from outside.
        self._charged: dict[int, int | None] = {}

    def line(self) -> int | None:
        """The innermost line of the candidate's file that is running now."""
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def copy(self, source: torch.device | str, target: torch.device, size: int) -> None:
        if len(self.copies) < _MAX_EVENTS:
            self.copies.append([str(source), str(target), size, self.line()])

    def read(self, tensor: torch.Tensor) -> None:
        if len(self.reads) < _MAX_EVENTS:
            self.reads.append([str(tensor.device), self.line()])

    def operation(self, function: Any, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        name = str(function._overloadpacket)
        first = outputs[0] if outputs else inputs[0] if inputs else None
        device = first.device if first is not None else torch.device("cpu")
        key = (
            name,
            tuple(_dtype(each) for each in inputs),
            _dtype(outputs[0]) if outputs else None,
            str(device),
            torch._C._current_graph_task_id() != -1,
            self.autocast.get(device.type, False),
        )
        if key in self._ops or len(self._ops) < _MAX_EVENTS:
            self._ops[key] = self._ops.get(key, 0) + 1
        if name in _READS:
            self.read(inputs[0])
        if name in _COPIES and outputs:
            source = inputs[1] if name == "aten.copy_" and len(inputs) > 1 else inputs[0]
            if source.device != outputs[0].device:
                self.copy(source.device, outputs[0].device, _bytes(outputs[0]))

    def indexed(self, tensor: torch.Tensor, indices: Any) -> None:
        """Notes the copies of indices that are on another device than what they index."""
        for each in _tensors((indices,)):
            if each.device != tensor.device:
                self.copy(each.device, tensor.device, _bytes(each))

    def outside(self, tensors: list[torch.Tensor]) -> None:
        """Notes storages that were there before, so that a view of one is not charged."""
        for tensor in tensors:
            storage = _storage(tensor)
            if storage is not None and storage._cdata not in self._charged:
                self._follow(storage, str(tensor.device), None)

    def born(self, tensors: list[torch.Tensor]) -> None:
        """Charges storages that are new, or that have grown."""
        for tensor in tensors:
            storage = _storage(tensor)
            if storage is None:
                continue
            size, device = storage.nbytes(), str(tensor.device)
            if storage._cdata not in self._charged:
                self._follow(storage, device, size)
                self._charge(device, size)
                continue
            charged = self._charged[storage._cdata]
            if charged is not None and charged != size:
                self._charged[storage._cdata] = size
                self._charge(device, size - charged)

    def _follow(self, storage: Any, device: str, size: int | None) -> None:
        self._charged[storage._cdata] = size
        weakref.finalize(storage, self._gone, storage._cdata, device)

    def _gone(self, key: int, device: str) -> None:
        self._charge(device, -(self._charged.pop(key, None) or 0))

    def _charge(self, device: str, size: int) -> None:
        live = self._live[device] = self._live.get(device, 0) + size
        self._peak[device] = max(self._peak.get(device, 0), live)

    def plain(self, caught: list[warnings.WarningMessage], *, autocast_left_on: bool) -> dict[str, Any]:
        return {
            "copies": self.copies,
            "reads": self.reads,
            "ops": [[name, list(ins), *rest, count] for (name, ins, *rest), count in self._ops.items()],
            "live": dict(self._live),
            "peak": dict(self._peak),
            "warnings": [
                [each.category.__name__, str(each.message)[:500], each.lineno if each.filename == self._file else None]
                for each in caught[:100]
            ],
            "autocast_left_on": autocast_left_on,
        }


class _DispatchWatch(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own class hook has no types
    def __init__(self, trace: _Trace) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        self._trace = trace

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch would wrap the method below, and the wrapper imports the compiler, for a second

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        inputs = list(_tensors((*args, *kwargs.values())))
        self._trace.outside(inputs)
        if str(func._overloadpacket) in _INDEXING and len(args) > 1:
            self._trace.indexed(*args[:2])
        result = func(*args, **kwargs)
        outputs = list(_tensors((result,)))
        self._trace.operation(func, inputs, outputs)
        self._trace.born(outputs)
        return result


class _FunctionWatch(TorchFunctionMode):
    def __init__(self, trace: _Trace) -> None:
        super().__init__()
        self._trace = trace

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        self._trace.autocast = _autocast_state()
        copies, reads = len(self._trace.copies), len(self._trace.reads)
        result = func(*args, **kwargs)
        if func in _TEXTS and args[0].device.type != "meta" and len(self._trace.reads) == reads:
            self._trace.read(args[0])
        target, size = _crossing(func, args, kwargs, result)
        if size and target.type != "cpu" and len(self._trace.copies) == copies:  # an array's copy is seen below
            self._trace.copy("cpu", target, size)
        return result


def _crossing(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> tuple[torch.device, int]:
    """Where numbers that Python holds are put by a call, and how many bytes these are there; 0 if it puts none."""
    if func in _SUBSCRIPTS:
        index = args[1] if isinstance(args[1], tuple) else (args[1],)
        return args[0].device, sum(_bytes_of_numbers(each) for each in index if isinstance(each, (list, range)))
    made = isinstance(result, torch.Tensor) and _is_host_data(func, args, kwargs)
    return (result.device, _bytes(result)) if made else (_CPU, 0)


def _bytes_of_numbers(index: Any) -> int:
    """The bytes of the index that torch makes of numbers: a bool has one, an int eight."""
    if isinstance(index, (list, range)):
        return sum(map(_bytes_of_numbers, index))
    return 1 if isinstance(index, bool) else 8 if isinstance(index, int) else 0


def _is_host_data(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a tensor is made of numbers that Python has, which are on the host."""
    if func in _METHODS:
        args = args[1:]
    elif func not in _FACTORIES:
        return False
    data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
    size = func is torch.Tensor.new and (isinstance(data, torch.Size) or not hasattr(data, "__len__"))
    return not isinstance(data, torch.Tensor) and not size


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _storage(tensor: torch.Tensor) -> Any:
    """The tensor's storage, or None where it has none of its own (sparse, meta and fake tensors)."""
    if tensor.layout is not torch.strided or tensor.device.type == "meta":
        return None
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None
