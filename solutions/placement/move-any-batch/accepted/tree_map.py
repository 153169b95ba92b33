# Torch's own trees, with dataclasses as leaves whose fields are trees again.
import dataclasses
import functools

import torch
from torch.utils import _pytree as tree


@functools.lru_cache
def _narrow(device):
    try:
        torch.empty((), dtype=torch.double, device=device)
    except TypeError:
        return {torch.double: torch.float}
    return {}


def _is_record(value):
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def to_device(obj, device, *, keep_on_cpu=()):
    memo = {}

    def leaf(path, value):
        names = [getattr(step, "key", getattr(step, "name", None)) for step in path if not hasattr(step, "idx")]
        if any(name in keep_on_cpu for name in names):
            return value
        if _is_record(value):
            fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
            return dataclasses.replace(value, **move(fields))
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in memo:
            memo[id(value)] = value.to(device=device, dtype=_narrow(device).get(value.dtype, value.dtype))
        return memo[id(value)]

    def move(value):
        return tree.tree_map_with_path(leaf, value, is_leaf=_is_record)

    return move(obj)
