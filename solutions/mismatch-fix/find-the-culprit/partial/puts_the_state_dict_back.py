# Saves and loads `state_dict`. A buffer that is not persistent is not in it.
# caught-by: test_all_is_as_before
import contextlib
import copy
import traceback

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


def inside(thing):
    match thing:
        case nn.Module():
            return {**thing._parameters, **thing._buffers, **thing._modules, **vars(thing)}
        case dict():
            return thing
        case list() | tuple():
            return dict(enumerate(thing))
        case _:
            return {}


def tensors(thing, path, seen):
    """Every tensor that can be reached, with its path."""
    if isinstance(thing, torch.Tensor):
        yield ".".join(path), thing
    elif id(thing) not in seen:
        seen.add(id(thing))
        for name, each in inside(thing).items():
            yield from tensors(each, (*path, str(name)), seen)


class Watch(TorchFunctionMode):
    error, operands = None, ()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        try:
            return func(*args, **(kwargs or {}))
        except Exception as error:
            self.error, self.operands = error, [each for _, each in tensors((args, kwargs), (), set())]
            raise


@contextlib.contextmanager
def as_it_was(model):
    tables = [(table, dict(table)) for part in model.modules() for table in (part._parameters, part._buffers)]
    held = [*model.state_dict(keep_vars=True).values()]
    values = copy.deepcopy(held)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        for table, before in tables:
            table.update(before)
        with torch.no_grad():
            for each, value in zip(held, values):
                each.copy_(value)


def failure_of(model, args, kwargs):
    try:
        model(*args, **kwargs)
    except RuntimeError as error:
        return error


def explain_mismatch(model, args, kwargs):
    paths = {part: path for path, part in model.named_modules()}
    names = {}
    for name, each in (*tensors(model, (), set()), *tensors({"args": args, "kwargs": kwargs}, (), set())):
        names.setdefault(each.untyped_storage()._cdata, name)
    with as_it_was(model), Watch() as watch:
        error = failure_of(model, args, kwargs)
    if error is None:
        return None

    # A number on the CPU may be anywhere, so it explains nothing.
    places = {str(each.device) for each in watch.operands if each.dim() or each.device.type != "cpu"}
    if error is not watch.error or len(places) < 2:
        raise error
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "forward"]
    running = [frame.f_locals.get("self") for frame in frames]
    [*_, module] = [paths[each] for each in running if each in paths]
    met = [(names.get(each.untyped_storage()._cdata), str(each.device)) for each in watch.operands]
    return {
        "module": module,
        "tensors": {name: place for name, place in met if name is not None},
        "devices": sorted(places),
    }
