"""Keeping `torch.compile` out of this package.

While something is compiled, its frame hook (`torch/csrc/dynamo/eval_frame.cpp`) looks at every Python function that
runs, and tries to trace those that are not torch's own: our kernels and streams too, and even for code on the CPU,
since it asks for the accelerator's current stream. Each of our functions is marked as one to run as it is. The mark is
set in C; the decorator for it would import `torch._dynamo`, which takes a second.
"""

import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

_PACKAGE = __name__.rpartition(".")[0]


def leave_us_alone() -> None:
    """Marks all functions of the modules of this package that are loaded."""
    hook: Any = torch._C._dynamo.eval_frame
    skip = hook._FrameExecStrategy(hook._FrameAction.SKIP, hook._FrameAction.SKIP)
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE + "."):
            for code in _codes(module, name):
                hook.set_code_exec_strategy(code, skip)


def _codes(module: types.ModuleType, name: str) -> Iterator[types.CodeType]:
    for value in list(vars(module).values()):
        for member in vars(value).values() if isinstance(value, type) else (value,):
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if isinstance(function, types.FunctionType) and function.__module__ == name:
                yield from _with_nested(function.__code__)


def _with_nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_nested(constant)
