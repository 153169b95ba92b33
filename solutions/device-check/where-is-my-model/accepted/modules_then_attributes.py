# Registered modules by their names, then what hangs on their attributes, with a list of what is still to be looked at.
from collections import Counter

import torch
from torch import nn


def pieces(path, thing):
    prefix = f"{path}." if path else ""
    if isinstance(thing, nn.Module):
        thing = vars(thing)
    if isinstance(thing, dict):
        return [(f"{prefix}{key}", each) for key, each in thing.items()]
    if isinstance(thing, (list, tuple)):
        return [(f"{prefix}{index}", each) for index, each in enumerate(thing)]
    return []


def placement(module):
    registered = [*module.parameters(), *module.buffers()]
    storages = {tensor.untyped_storage()._cdata: tensor for tensor in registered}
    held = Counter()
    for tensor in storages.values():
        held[str(tensor.device)] += tensor.untyped_storage().nbytes()

    known = {id(tensor) for tensor in registered} | {id(part) for part in module.modules()}
    waiting = [piece for path, part in module.named_modules() for piece in pieces(path, part)]
    strays = []
    while waiting:
        path, thing = waiting.pop()
        if id(thing) in known:
            continue
        known.add(id(thing))
        if isinstance(thing, torch.Tensor):
            strays.append((path, str(thing.device)))
        waiting += pieces(path, thing)
    return held, strays
