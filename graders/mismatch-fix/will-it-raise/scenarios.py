"""Asks for predictions about operations on two devices, and plays afterwards what was to be predicted."""

import inspect

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence


def _assigned(target, index, value):
    target[index] = value
    return target


#: By name: what is evaluated, given the operands in turn.
CALLS = {
    "a + b": lambda a, b: a + b,
    "a > b": lambda a, b: a > b,
    "torch.maximum(a, b)": torch.maximum,
    "torch.where(a, b, c)": torch.where,
    "a.masked_fill(b, c)": lambda a, b, c: a.masked_fill(b, c),
    "a.add_(b)": lambda a, b: a.add_(b),
    "a.copy_(b)": lambda a, b: a.copy_(b),
    "a.fill_(b)": lambda a, b: a.fill_(b),
    "a[0] = b": lambda a, b: _assigned(a, 0, b),
    "a @ b": lambda a, b: a @ b,
    "torch.cat([a, b])": lambda a, b: torch.cat([a, b]),
    "torch.stack([a, b])": lambda a, b: torch.stack([a, b]),
    "functional.linear(a, b)": functional.linear,
    "a[b]": lambda a, b: a[b],
    "a[b] = 0.0": lambda a, b: _assigned(a, b, 0.0),
    "a.index_select(0, b)": lambda a, b: a.index_select(0, b),
    "a.gather(0, b)": lambda a, b: a.gather(0, b),
    "functional.embedding(a, b)": functional.embedding,
    "functional.cross_entropy(a, b)": functional.cross_entropy,
    "functional.cross_entropy(a, b, weight=c)": lambda a, b, c: functional.cross_entropy(a, b, weight=c),
    "torch.nn.GRU(3, 3)(a, b)": lambda a, b: nn.GRU(3, 3).to(a.device)(a, b)[0],
    "pack_padded_sequence(a, b)": lambda a, b: pack_padded_sequence(a, b).data,
    "torch.tensor([a, b])": lambda a, b: torch.tensor([a, b]),
    "a * float(b)": lambda a, b: a * float(b),
    "a.to(b)": lambda a, b: a.to(b),
}
#: What an operand is where it is not float32 of all ones: by call and position, and there by its dimensions.
_MASK, _ROWS = torch.eye(3) > 0, torch.tensor([0, 2])
_SPECIAL = {
    ("torch.where(a, b, c)", 0): {2: _MASK},
    ("a.masked_fill(b, c)", 1): {2: _MASK},
    ("a[b]", 1): {1: _ROWS, 2: _MASK},
    ("a[b] = 0.0", 1): {1: _ROWS, 2: _MASK},
    ("a.index_select(0, b)", 1): {1: _ROWS},
    ("a.gather(0, b)", 1): {2: _ROWS[None]},
    ("functional.embedding(a, b)", 0): {1: _ROWS},
    ("functional.cross_entropy(a, b)", 1): {1: torch.tensor([0, 1, 2])},
    ("functional.cross_entropy(a, b, weight=c)", 1): {1: torch.tensor([0, 1, 2])},
    ("functional.cross_entropy(a, b, weight=c)", 2): {1: torch.ones(3)},
    ("torch.nn.GRU(3, 3)(a, b)", 1): {2: torch.ones(1, 3)},
    ("pack_padded_sequence(a, b)", 1): {1: torch.tensor([3, 2, 1])},
}
_SHAPES = ((), (1,), (3, 3), (3, 3, 2))


def ask_and_play(candidate, _device, probe, *, situations):
    """What is predicted; and when all predictions are there, what comes of each."""
    with probe.watch():
        told = [candidate.meet(call, [tuple(each) for each in operands]) for call, operands in situations]
    return {"told": told, "live": [_play(call, operands) for call, operands in situations]}


def load_again(candidate, _device, probe):
    """The candidate's file is run once more."""
    module = inspect.getmodule(candidate.meet)
    with probe.watch():
        exec(compile(inspect.getsource(module), module.__file__, "exec"), {"__name__": module.__name__})
    return {}


def _play(call, operands):
    given = [_operand(call, at, *each) for at, each in enumerate(operands)]
    try:
        return str(CALLS[call](*given).device)
    except Exception:  # noqa: BLE001 - whatever it is, it was to be predicted
        return "raises"


def _operand(call, at, device, dims):
    special = _SPECIAL.get((call, at), {}).get(dims)
    return torch.ones(_SHAPES[dims], device=device) if special is None else special.to(device, copy=True)
