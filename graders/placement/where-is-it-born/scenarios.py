"""Asks for predictions, and plays what was to be predicted. `outcomes` is also played in the judge."""

import contextlib
import inspect
import io
import warnings

import numpy as np
import torch
from torch import nn

#: By name: what is evaluated, given the source and, where there is one, the device as a keyword.
CALLS = {
    "torch.zeros": lambda _, **where: torch.zeros(2, 3, **where),
    "torch.nn.Linear": lambda _, **where: nn.Linear(3, 2, **where).weight,
    "torch.Tensor": lambda _, **where: torch.Tensor(2, 3, **where),
    "torch.tensor": torch.tensor,
    "torch.as_tensor": torch.as_tensor,
    "torch.from_numpy": torch.from_numpy,
    "torch.zeros_like": torch.zeros_like,
    "Tensor.new_zeros": lambda source, **where: source.new_zeros(2, 3, **where),
    "Tensor.add": lambda source: source + 1,
    "Tensor.clone": lambda source: source.clone(),
    "Tensor.detach": lambda source: source.detach(),
    "torch.nn.Parameter": nn.Parameter,
    "Tensor.to": lambda source, **where: source.to(**where),
    "Tensor.to copy": lambda source, **where: source.to(**where, copy=True),
    "Tensor.cpu": lambda source: source.cpu(),
    "torch.load": lambda source, device=None: torch.load(_saved(source), map_location=device),
}


def ask(candidate, _device, probe, *, situations):
    """What is predicted."""
    with probe.watch():
        return {"told": _predictions(candidate, situations)}


def ask_and_play(candidate, _device, probe, *, situations):
    """What is predicted, and then what comes of it on this machine."""
    with probe.watch():
        told = _predictions(candidate, situations)
    return {"told": told, "live": outcomes(situations)}


def load_again(candidate, _device, probe):
    """The candidate's file is run once more."""
    module = inspect.getmodule(candidate.born)
    with probe.watch():
        exec(compile(inspect.getsource(module), module.__file__, "exec"), {"__name__": module.__name__})
    return {}


def outcomes(situations):
    """What really comes of each: [device, whether memory is shared with the source], or "raises"."""
    with warnings.catch_warnings(action="ignore"):  # torch.tensor of a tensor
        return [_play(**each) for each in situations]


def _predictions(candidate, situations):
    return [candidate.born(**each) for each in situations]


def _play(call, source, device, context):
    thing = _source(source)
    where = {} if device is None else {"device": device}
    try:
        with contextlib.nullcontext() if context is None else torch.device(context):
            result = CALLS[call](thing, **where)
    except Exception:  # noqa: BLE001 - whatever it is, it was to be predicted
        return "raises"
    return [str(result.device), _shares(result, thing)]


def _source(name):
    match name:
        case None:
            return None
        case "list":
            return [1.0, 2.0]
        case "array":
            return np.ones(2, dtype=np.float32)
        case _:
            return torch.ones(2, device=name)


def _shares(result, source):
    if isinstance(source, torch.Tensor):
        return result.untyped_storage()._cdata == source.untyped_storage()._cdata  # noqa: SLF001 - meta has no address
    return isinstance(source, np.ndarray) and result.device.type == "cpu" and result.data_ptr() == source.ctypes.data


def _saved(tensor):
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return file
