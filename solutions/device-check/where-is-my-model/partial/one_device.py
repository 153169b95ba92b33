# Takes the first tensor's device for the model's: it holds until a model is spread over two.
# caught-by: test_bytes_by_device
import torch
from torch import nn


def held(tensors):
    storages = {id(storage): storage for tensor in tensors for storage in [tensor.untyped_storage()]}
    return {str(tensors[0].device): sum(storage.nbytes() for storage in storages.values())} if tensors else {}


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
