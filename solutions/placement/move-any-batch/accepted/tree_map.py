# Torch's own trees, with dataclasses as leaves whose fields are trees again.
import contextlib
import dataclasses

import torch
from torch.utils import _pytree as tree


def _narrow(device):
    with contextlib.suppress(TypeError):
        torch.empty((), dtype=torch.double, device=device)
        return {}
    return {torch.double: torch.float}


def to_device(obj, device, *, keep_on_cpu=()):
    memo, narrow = {}, _narrow(device)

    def leaf(path, value):
        names = [getattr(step, "key", getattr(step, "name", None)) for step in path]
        if any(name in keep_on_cpu for name in names):
            return value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
            return dataclasses.replace(value, **move(fields))
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in memo:
            memo[id(value)] = value.to(device=device, dtype=narrow.get(value.dtype, value.dtype))
        return memo[id(value)]

    def move(value):
        return tree.tree_map_with_path(leaf, value)

    return move(obj)
