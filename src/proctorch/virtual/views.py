"""Views: operations whose result shares the storage of an argument.

Their CPU kernels only compute sizes and strides, so they run on the cuda tensor itself, and storage, device and the
autograd relation of base and view are what they should be. All other views in torch are composed of these.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch

from proctorch.virtual.relabel import CPU_KERNELS


def kernels() -> dict[str, Callable[..., torch.Tensor]]:
    """A kernel for each view that has one for the CPU, by its name in `native_functions.yaml`."""
    return {name: functools.partial(_redispatch(name), CPU_KERNELS) for name in _VIEWS}


_VIEWS = ("as_strided", "as_strided_", "view", "view.dtype", "_reshape_alias", "unfold", "view_as_real", "view_as_complex")


def _redispatch(name: str) -> Any:
    base, _, overload = name.partition(".")
    handle: Any = torch._C._dispatch_find_schema_or_throw(f"aten::{base}", overload)
    return handle.redispatch_boxed
