"""Builds nested batches from a plan, has them moved, and tells what came back and what became of the caller's."""

import contextlib
import dataclasses
import typing

import numpy as np
import torch
from torch.overrides import TorchFunctionMode


class Frame(typing.NamedTuple):
    image: object
    length: object
    previous: object


@dataclasses.dataclass
class Sample:
    boxes: object
    crowd: object
    path: object


@dataclasses.dataclass(frozen=True, slots=True)
class Boxes:
    corners: object
    labels: object


_CONTAINERS = {dict: "dict", list: "list", tuple: "tuple", Frame: "Frame", Sample: "Sample", Boxes: "Boxes"}
_TYPES = {name: kind for kind, name in _CONTAINERS.items()}


def move(candidate, device, probe, *, batch, tensors, start="cpu", to="device", keep=None, later=None):
    """One call, on a batch that is on `start`. With `later` another one, after the tensors got these values in place.

    What is told is of the last call, with the values that there are as soon as it returns.
    """
    place = _place(to, device)
    tensors = [each.to(_place(start, device)) for each in tensors]
    given = _build(batch, tensors)
    keywords = {} if keep is None else {"keep_on_cpu": keep}
    if later is not None:
        candidate.to_device(given, place, **keywords)
        for mine, new in zip(tensors, later, strict=True):
            mine.copy_(new)
    before, copies = dict(_walk(given)), [each.clone() for each in tensors]
    with _late(device):
        with probe.watch(), _Poor(place) if to in ("meta", "second") else contextlib.nullcontext():
            result = candidate.to_device(given, place, **keywords)
        walked = dict(_walk(result))
        told = {key: _told(probe, each) for key, each in walked.items() if isinstance(each, torch.Tensor)}
    after, numbers = dict(_walk(given)), {}
    return {
        "kinds": [[key, _kind(each)] for key, each in walked.items()],
        "place": str(place),
        "tensors": told,
        "same": {key: each is before.get(key) for key, each in walked.items()},
        "numbers": {key: numbers.setdefault(id(each), len(numbers)) for key, each in walked.items()},
        "left_alone": [*after] == [*before] and all(each is before[key] for key, each in after.items()),
        "same_values": all(
            mine.device == copy.device and torch.equal(mine, copy) for mine, copy in zip(tensors, copies, strict=True)
        ),
    }


def _place(name, device):
    """The CPU, meta, the job's device, or the second accelerator beside that."""
    if name == "device":
        return device
    if name == "second":
        return torch.device(device.type, ((device.index or 0) + 1) % torch.accelerator.device_count())
    return torch.device(name)


def _late(device):
    """Copies to the CPU that do not block arrive as late as they may, where the device is simulated."""
    if device.type != "cuda":
        return contextlib.nullcontext()
    from proctorch import virtual

    return virtual.delay_downloads() if virtual.is_enabled() else contextlib.nullcontext()


class _Poor(TorchFunctionMode):
    """Takes float64 away from one device, and says so as torch does for Apple's GPUs."""

    def __init__(self, place):
        super().__init__()
        self._place = place

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.device == self._place and result.dtype == torch.float64:
            raise TypeError(f"the device {self._place} of this question has no float64; use float32")
        return result


def _build(plan, tensors):
    kind, *rest = plan
    match kind:
        case "tensor" | "view" | "twin" | "columns":
            return _leaf(kind, tensors[rest[0]])
        case "dict":
            return {key: _build(each, tensors) for key, each in rest[0]}
        case "list" | "tuple":
            return _TYPES[kind](_build(each, tensors) for each in rest[0])
        case "Frame" | "Sample" | "Boxes":
            return _TYPES[kind](*(_build(each, tensors) for each in rest[0]))
        case "ndarray":
            return np.arange(3.0)
        case "set":
            return {"left", "right"}
        case "type":
            return _TYPES[rest[0]]
        case _:
            return rest[0]


def _leaf(kind, tensor):
    """The tensor, or a new tensor object over its memory."""
    match kind:
        case "view":
            return tensor[:1]
        case "twin":
            return tensor.detach()
        case "columns":
            return tensor[:, ::2]
        case _:
            return tensor


def _walk(value, key="batch"):
    """All parts, with keys that do not tell a list from a tuple, or either from a class with fields."""
    yield key, value
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = enumerate(getattr(value, each.name) for each in dataclasses.fields(value))
    else:
        return
    for name, each in parts:
        yield from _walk(each, f"{key}/{name}")


def _kind(value):
    if isinstance(value, torch.Tensor):
        return "tensor"
    return _CONTAINERS.get(type(value), type(value).__name__)


def _told(probe, tensor):
    return probe.describe(tensor) if tensor.is_meta else tensor.clone()
