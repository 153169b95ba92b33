# A queue, so that each stray is told by one of its shortest paths. Registered are those that `_apply` would come to.
from collections import deque

import torch
from torch import nn


def registered_in(module):
    for part in module.modules():
        yield from (each for each in (*part._parameters.values(), *part._buffers.values()) if each is not None)


def children(thing):
    match thing:
        case nn.Module():
            registries = (thing._parameters, thing._buffers, thing._modules)
            for name, each in vars(thing).items():
                if not any(each is registry for registry in registries):
                    yield name, each
            for registry in registries:
                yield from registry.items()
        case dict():
            yield from thing.items()
        case list() | tuple():
            yield from enumerate(thing)


def placement(module):
    seen_storages, held = [], {}
    registered = list(registered_in(module))
    for tensor in registered:
        storage = tensor.untyped_storage()
        if not any(storage is each for each in seen_storages):
            seen_storages.append(storage)
            held[str(tensor.device)] = held.get(str(tensor.device), 0) + storage.nbytes()

    queue, visited, strays = deque([((), module)]), {id(module)}, []
    registered_ids = {id(each) for each in registered}
    while queue:
        path, thing = queue.popleft()
        for name, each in children(thing):
            if id(each) in visited:
                continue
            visited.add(id(each))
            step = (*path, str(name))
            if not isinstance(each, torch.Tensor):
                queue.append((step, each))
            elif id(each) not in registered_ids:
                strays.append((".".join(step), str(each.device)))
    return held, strays
