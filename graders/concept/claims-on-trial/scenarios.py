"""Lets experiments run in torch as it is, and in an altered one. `trials` runs in the judge too.

Where nothing is otherwise, torch is wrapped in the same way, so that an experiment cannot tell by that.
"""

import contextlib
import copy
import functools
import warnings

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

MOVES = {torch.Tensor.to, torch.Tensor.cpu, torch.Tensor.cuda}


def try_out(candidate, _device, _probe, *, claim, plan):
    """What the claim's experiment says, each time that it is run, and what it leaves otherwise than it was."""
    before = _lasting()
    said = trials(getattr(candidate, claim), claim, plan)
    after = _lasting()
    return {"said": said, "changed": [name for name, was in before.items() if was != after[name]]}


def trials(experiment, claim, plan):
    """The experiment's answers for each [device, whether torch is altered] of the plan."""
    said = []
    for place, altered in plan:
        with WORLDS[claim](altered):
            said.append(experiment(torch.device(place)))
    return said


def _lasting():
    """What an experiment may not change, by name. The state of the random generator is not in it: layers draw."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.warn_explicit("a warning that nobody has heard of", UserWarning, "nowhere.py", 1)
    return {
        "the default dtype": torch.get_default_dtype(),
        "the default device": torch.get_default_device(),
        "the gradient mode": torch.is_grad_enabled(),
        "the seed": torch.initial_seed(),
        "whether warnings are shown": len(shown),
    }


class _Calls(TorchFunctionMode):
    def __init__(self, call):
        super().__init__()
        self._call = call

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return self._call(func, *args, **(kwargs or {}))


def _of_calls(alter):
    """A world in which calls of torch's functions are altered."""
    return lambda altered: _Calls(alter if altered else lambda func, *args, **kwargs: func(*args, **kwargs))


def _of_modules(name, alter):
    """A world in which a method of modules is altered."""

    @contextlib.contextmanager
    def world(altered):
        original = getattr(nn.Module, name)

        @functools.wraps(original)
        def method(self, *args, **kwargs):
            return alter(original, self, *args, **kwargs) if altered else original(self, *args, **kwargs)

        setattr(nn.Module, name, method)
        try:
            yield
        finally:
            setattr(nn.Module, name, original)

    return world


def _to_moves_the_tensor(func, *args, **kwargs):
    if func not in MOVES:
        return func(*args, **kwargs)
    tensor = args[0]
    moved = func(tensor.detach(), *args[1:], **kwargs)
    if moved.device != tensor.device:
        torch.utils.swap_tensors(tensor, moved.requires_grad_(tensor.requires_grad))
    return tensor


def _to_makes_a_new_one(func, *args, **kwargs):
    """One with the same memory, since the claim is about the tensor."""
    result = func(*args, **kwargs)
    return result.view_as(result) if func in MOVES and result is args[0] else result


def _to_makes_a_leaf(func, *args, **kwargs):
    result = func(*args, **kwargs)
    made = func in MOVES and result.requires_grad and result is not args[0]
    return result.detach().requires_grad_() if made else result


def _all_devices_mix(func, *args, **kwargs):
    places = {each.device for each in tree_leaves([args, kwargs]) if isinstance(each, torch.Tensor)}
    if len(places) > 1 and func not in MOVES:
        place = next(each for each in places if each.type != "cpu")
        args, kwargs = tree_map_only(torch.Tensor, lambda each: each.to(place), (args, kwargs))
    return func(*args, **kwargs)


def _no_devices_mix(func, *args, **kwargs):
    places = {each.device for each in tree_leaves([args, kwargs]) if isinstance(each, torch.Tensor)}
    if len(places) > 1 and func not in MOVES:
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {len(places)} devices!")
    return func(*args, **kwargs)


def _numpy_copies_home(func, *args, **kwargs):
    if func in (torch.Tensor.numpy, torch.Tensor.__array__) and args[0].device.type != "cpu":
        home = torch.zeros_like(args[0], device="cpu") if args[0].is_meta else args[0].detach().cpu()
        return np.asarray(home)
    return func(*args, **kwargs)


def _a_copy_is_moved(original, module, *args, **kwargs):
    moved = copy.deepcopy(module)
    altered, nn.Module._apply = nn.Module._apply, original  # noqa: SLF001 - the copy's parts are moved in place
    try:
        return original(moved, *args, **kwargs)
    finally:
        nn.Module._apply = altered  # noqa: SLF001 - as above


def _attributes_are_moved(original, module, fn, *args, **kwargs):
    original(module, fn, *args, **kwargs)
    tensors = {name: each for name, each in vars(module).items() if isinstance(each, torch.Tensor)}
    vars(module).update({name: fn(each) for name, each in tensors.items()})
    return module


def _eval_stops_the_graph(original, module, mode=True):
    original(module, mode)
    vars(module).pop("forward", None)
    if not mode:
        vars(module)["forward"] = torch.no_grad()(module.forward)
    return module


@contextlib.contextmanager
def _with_other_parameters(altered):
    torch.__future__.set_overwrite_module_params_on_conversion(altered)
    try:
        yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)


WORLDS = {
    "tensor_moves": _of_calls(_to_moves_the_tensor),
    "module_moves": _of_modules("_apply", _a_copy_is_moved),
    "attribute_moves": _of_modules("_apply", _attributes_are_moved),
    "devices_mix": _of_calls(_all_devices_mix),
    "number_mixes": _of_calls(_no_devices_mix),
    "eval_drops_graph": _of_modules("train", _eval_stops_the_graph),
    "numpy_copies_home": _of_calls(_numpy_copies_home),
    "same_is_returned": _of_calls(_to_makes_a_new_one),
    "leaf_stays_leaf": _of_calls(_to_makes_a_leaf),
    "optimizer_follows": _with_other_parameters,
}
