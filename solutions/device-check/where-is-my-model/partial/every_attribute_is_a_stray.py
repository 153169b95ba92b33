# Whatever an attribute or a container holds is called a stray, though it may be a second name of what is registered.
# caught-by: test_a_stale_alias_is_a_stray
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
    if id(thing) in visited:
        return
    visited.add(id(thing))
    for name, each in inside(thing).items():
        own = isinstance(thing, nn.Module) and name not in vars(thing) and id(thing) in registered
        if isinstance(each, torch.Tensor):
            if not own and id(each) not in visited:
                visited.add(id(each))
                strays.append((".".join([*path, str(name)]), str(each.device)))
        else:
            walk(each, [*path, str(name)], visited, registered, strays)


def placement(module):
    registered = [*module.parameters(), *module.buffers()]
    strays = []
    walk(module, [], set(), {id(part) for part in module.modules()}, strays)
    return held(registered), strays
