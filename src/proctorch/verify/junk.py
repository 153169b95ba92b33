"""The junk battery: submissions that no question may accept, made to the shape of its entry points."""

from collections.abc import Iterator

from proctorch.bank.question import EntryPoint, Question

_HEAD = """\
import os
import torch


def first_tensor(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            return value
    return torch.ones(3)


class EqualsEverything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __getitem__(self, key): return self
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
    def __float__(self): return 1.0
    def __int__(self): return 1
    def __str__(self): return "cpu"
"""

#: The piece that only a time limit ends.
HANG = "hangs"

#: What the body of every entry point does, by the name of the junk. `given` is the tuple of its arguments.
_BODIES = {
    "returns-none": "return None",
    "zeros": "return torch.zeros_like(first_tensor(given))",
    "nan": "return torch.full_like(first_tensor(given), float('nan'), dtype=torch.float32)",
    "echo": "return given[0] if given else None",
    "wrong-dtype": "return torch.zeros(first_tensor(given).shape, dtype=torch.int64)",
    "raises": "raise RuntimeError('not today')",
    "exits": "os._exit(0)",
    "equals-everything": "return EqualsEverything()",
    HANG: "while True: pass",
}


def junk(question: Question) -> Iterator[tuple[str, bytes]]:
    """Each piece of junk for the question: its name and its source."""
    yield "empty", b""
    for name, body in _BODIES.items():
        yield name, (_HEAD + "".join(_define(entry, body) for entry in question.entry)).encode()


def _define(entry: EntryPoint, body: str) -> str:
    given = "".join(f"{parameter.name}, " for parameter in entry.parameters)
    return f"\n\ndef {entry.signature}:\n    given = ({given})\n    {body}\n"
