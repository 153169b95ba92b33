# Registered modules by their names, then what hangs on their attributes, with a list of what is still to be looked at.
from collections import Counter

import torch
from torch import nn


def pieces(path, thing):
    prefix = f"{path}." if path else ""
    if isinstance(thing, dict):
        return [(f"{prefix}{key}", each) for key, each in thing.items()]
    if isinstance(thing, (list, tuple)):
        return [(f"{prefix}{index}", each) for index, each in enumerate(thing)]
    return []


def attributes(path, module):
    return [piece for piece in pieces(path, vars(module)) if piece[1] is not module._modules]


def placement(module):
    named = dict(module.named_parameters()) | dict(module.named_buffers())
    storages = {}
    for tensor in named.values():
        storages.setdefault(tensor.untyped_storage()._cdata, tensor)
    held = Counter()
    for tensor in storages.values():
        held[str(tensor.device)] += tensor.untyped_storage().nbytes()

    known = {id(tensor) for tensor in named.values()} | {id(part) for part in module.modules()}
    waiting = [piece for path, part in module.named_modules() for piece in attributes(path, part)]
    strays = []
    while waiting:
        path, thing = waiting.pop()
        if id(thing) in known:
            continue
        known.add(id(thing))
        if isinstance(thing, torch.Tensor):
            strays.append((path, str(thing.device)))
        elif isinstance(thing, nn.Module):
            strays += [(f"{path}.{name}", str(each.device)) for name, each in tensors_of(thing) if fresh(each, known)]
            waiting += [
                piece
                for name, part in thing.named_modules()
                if id(part) not in known or part is thing
                for piece in attributes(f"{path}.{name}" if name else path, part)
            ]
            known.update(id(part) for part in thing.modules())
        else:
            waiting += pieces(path, thing)
    return held, strays


def tensors_of(module):
    return [*module.named_parameters(), *module.named_buffers()]


def fresh(tensor, known):
    is_fresh = id(tensor) not in known
    known.add(id(tensor))
    return is_fresh
