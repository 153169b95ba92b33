# First all tensors are found and moved, then the batch is built around them. The device is asked for float64 once.
import contextlib
import dataclasses

import torch


def _parts(value):
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value))
    if isinstance(value, (list, tuple)):
        return [(None, each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
    return None


def _find(value, keep, found):
    if isinstance(value, torch.Tensor):
        found[id(value)] = value
    for name, each in _parts(value) or []:
        if name not in keep:
            _find(each, keep, found)


def _build(value, keep, moved):
    if isinstance(value, torch.Tensor):
        return moved[id(value)]
    parts = _parts(value)
    if parts is None:
        return value
    new = [(name, each if name in keep else _build(each, keep, moved)) for name, each in parts]
    if isinstance(value, dict):
        return dict(new)
    if type(value) in (list, tuple):
        return type(value)(each for _, each in new)
    return type(value)(**dict(new))


def _double_of(device):
    with contextlib.suppress(TypeError):
        torch.empty((), dtype=torch.float64, device=device)
        return torch.float64
    return torch.float32


def to_device(obj, device, *, keep_on_cpu=()):
    found = {}
    _find(obj, keep_on_cpu, found)
    double = _double_of(device)
    return _build(
        obj,
        keep_on_cpu,
        {key: each.to(device, double if each.dtype == torch.float64 else each.dtype) for key, each in found.items()},
    )
