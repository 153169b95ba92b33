# Marks each module that it has visited, and leaves the marks.
# caught-by: test_nothing_is_touched
import torch
from torch import nn


def held(tensors):
    storages = {
        id(storage): (str(tensor.device), storage) for tensor in tensors for storage in [tensor.untyped_storage()]
    }
    totals = {}
    for place, storage in storages.values():
        totals[place] = totals.get(place, 0) + storage.nbytes()
    return totals


def inside(thing):
    if isinstance(thing, nn.Module):
        hidden = {"_parameters", "_buffers", "_modules"}
        own = {name: each for name, each in vars(thing).items() if name not in hidden}
        return {**own, **thing._parameters, **thing._buffers, **thing._modules}
    if isinstance(thing, dict):
        return thing
    return dict(enumerate(thing)) if isinstance(thing, (list, tuple)) else {}


def walk(thing, path, visited, registered, strays):
    if isinstance(thing, nn.Module):
        if getattr(thing, "_visited", None) is visited:
            return
        thing._visited = visited
    if id(thing) in visited:
        return
    visited.add(id(thing))
    if isinstance(thing, torch.Tensor):
        if id(thing) not in registered:
            strays.append((".".join(path), str(thing.device)))
        return
    for name, each in inside(thing).items():
        walk(each, [*path, str(name)], visited, registered, strays)


def placement(module):
    registered = [*module.parameters(), *module.buffers()]
    strays = []
    walk(module, [], set(), {id(each) for each in registered}, strays)
    return held(registered), strays
