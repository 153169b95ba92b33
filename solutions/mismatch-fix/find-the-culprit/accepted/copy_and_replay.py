# Runs a copy, so that little is to be restored; asks by a replay on one device whether the devices are to blame.
import copy

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

RUNNING = []


class Recorder(TorchFunctionMode):
    """The last call that failed, and in which module it was."""

    error = None

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        try:
            return func(*args, **kwargs)
        except Exception as error:
            self.error, self.call, self.module = error, (func, args, kwargs), RUNNING[-1]
            raise


def failure_of(func, args, kwargs):
    try:
        func(*args, **kwargs)
    except RuntimeError as error:
        return error


def enter(path):
    return lambda *_: RUNNING.append(path)


def leave(*_):
    RUNNING.pop()


def children(thing):
    if isinstance(thing, nn.Module):
        return {**thing._parameters, **thing._buffers, **thing._modules, **vars(thing)}
    return thing if isinstance(thing, dict) else dict(enumerate(thing)) if isinstance(thing, (list, tuple)) else {}


def named(model, roots):
    """Names by storage. The queue grows while it is gone through."""
    names, seen = {}, set()
    queue = [*roots.items(), *children(model).items()]
    for path, thing in queue:
        if isinstance(thing, torch.Tensor):
            names.setdefault(thing.untyped_storage()._cdata, path)
        elif id(thing) not in seen:
            seen.add(id(thing))
            queue.extend((f"{path}.{key}", each) for key, each in children(thing).items())
    return names


def explain_mismatch(model, args, kwargs):
    model, args, kwargs = copy.deepcopy((model, args, kwargs))
    names = named(model, {"args": args, "kwargs": kwargs})
    for part in model.modules():
        part.register_forward_hook(leave, always_call=True)
    for path, part in model.named_modules():
        part.register_forward_pre_hook(enter(path))
    with torch.random.fork_rng(), Recorder() as recorder:
        error = failure_of(model, args, kwargs)
    if error is None:
        return None

    if error is not recorder.error:
        raise error
    if failure_of(*tree_map_only(torch.Tensor, lambda each: each.to("meta"), recorder.call)):
        raise error
    met = [each for each in tree_leaves(recorder.call) if isinstance(each, torch.Tensor)]
    owned = [(names.get(each.untyped_storage()._cdata), str(each.device)) for each in met]
    return {
        "module": recorder.module,
        "tensors": {name: place for name, place in owned if name},
        "devices": sorted({str(each.device) for each in met}),
    }
