"""Takes inventories of this machine, and of this machine where torch refuses dtypes or breaks."""

import contextlib
import functools
import gc
import json
import unittest.mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

DTYPES = ("float32", "float64", "bfloat16", "float16")
_FAULTS = [ZeroDivisionError, KeyError, AttributeError, ValueError, OSError, AssertionError, MemoryError]
_PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot", "matmul", "linear")


def as_it_is(candidate, _device, probe):
    """The rows for this machine, whether they are plain data, and what trials of its own say of each device."""
    rows = candidate.inventory()
    accelerator, count = torch.accelerator.current_accelerator(), torch.accelerator.device_count()
    places = ["cpu", *(f"{accelerator.type}:{index}" for index in range(count))]
    tried = {place: {name: _works(probe, place, name) for name in DTYPES} for place in places}
    autocast = {place: torch.amp.is_autocast_available(torch.device(place).type) for place in places}
    return {"rows": rows, "plain": _is_plain(rows), "places": places, "dtypes": tried, "autocast": autocast}


def refusing(candidate, device, _probe, *, stage, refusals, place=None):
    """The rows while tensors of a dtype cannot be made or multiplied on the job's device, or at `place`.

    There is one inventory for each `[dtype, class of the error]`.
    """
    known = {each.__name__: each for each in (TypeError, RuntimeError, NotImplementedError)}
    told = []
    for name, error in refusals:
        with _Changed(torch.device(place or device), getattr(torch, name), stage, _refusal(name, known[error])):
            told.append(candidate.inventory())
    return told


def breaking(candidate, device, probe, *, name, errors):
    """What comes of trials of one dtype that break off, each in `[stage, error]`: what is raised, and when."""
    known = {each.__name__: each for each in (*_FAULTS, torch.OutOfMemoryError)}
    told = []
    for stage, error in errors:
        with _Changed(device, getattr(torch, name), stage, _fault(known[error])):
            told.append(probe.attempt(candidate.inventory))
    return told


def without_autocast(candidate, device, _probe):
    """The rows while autocast does not know the job's kind of device."""
    ask = torch._C._is_autocast_available  # noqa: SLF001 - below all ways to ask or to enter
    with unittest.mock.patch("torch._C._is_autocast_available", lambda kind: kind != device.type and ask(kind)):
        return candidate.inventory()


def with_defaults(candidate, device, _probe, *, dtype, refused):
    """The rows where new tensors are on meta and of another dtype by default, and of one dtype none can be made."""
    torch.set_default_device(torch.device("meta"))
    torch.set_default_dtype(getattr(torch, dtype))
    with _Changed(device, getattr(torch, refused), "making", _refusal(refused)):
        return candidate.inventory()


def unchanged(candidate, device, probe, *, dtype, seed, refused):
    """What is different after an inventory in which a trial is refused, and after one that a fault breaks off.

    Each accelerator is the current one once. New tensors are on meta and of another dtype by default.
    """
    torch.manual_seed(seed)
    torch.rand(3, device=device)  # a generator may begin to be at its first number
    torch.set_default_device(torch.device("meta"))
    torch.set_default_dtype(getattr(torch, dtype))
    places = [device.type] * (device.type != "cpu")
    told = []
    for index in range(torch.accelerator.device_count() if places else 1):
        if places:
            torch.accelerator.set_device_index(index)
        before = _state(places)
        with _Changed(device, getattr(torch, refused), "product", _refusal(refused)):
            rows = candidate.inventory()
        changed = _changes(before, _state(places))
        with _Changed(device, getattr(torch, refused), "making", _fault(KeyError)):
            probe.attempt(candidate.inventory)
        told.append({"rows": rows, "changed": changed, "changed by an error": _changes(before, _state(places))})
    return told


def memory_of_trials(candidate, device, probe, *, refused):
    """What the trials take while they run, and what of it is alive at the end. One is refused."""
    with probe.watch():
        with _Changed(device, getattr(torch, refused), "product", _refusal(refused)):
            rows = candidate.inventory()
        gc.collect()
    return rows


def free_memory(candidate, device, _probe, *, held, cached, others):
    """The row's memory while some is held, some is in torch's cache and others have some, and what torch says."""
    torch.accelerator.set_device_index(device.index or 0)
    candidate.inventory()  # libraries are loaded, and workspaces made, at the first product
    kept = torch.ones(held >> 2, device=device)
    torch.ones(cached >> 2, device=device)
    with _another_program(device, others):
        before = torch.accelerator.get_memory_info(device.index)
        reserved = torch.accelerator.memory_reserved(device.index)
        rows = candidate.inventory()
        after = torch.accelerator.get_memory_info(device.index)
    lost = reserved - torch.accelerator.memory_reserved(device.index)
    return {"rows": rows, "before": list(before), "after": list(after), "held": kept.nbytes, "lost": lost}


def of_two(candidate, device, _probe, *, held):
    """The rows of two accelerators that hold different amounts, the second being the current one."""
    first = device.index or 0
    second = (first + 1) % torch.accelerator.device_count()
    candidate.inventory()
    torch.accelerator.empty_cache()
    kept = [torch.ones(size >> 2, device=f"{device.type}:{at}") for at, size in zip((first, second), held, strict=True)]
    torch.accelerator.set_device_index(second)
    rows = candidate.inventory()
    told = {str(each.device): list(torch.accelerator.get_memory_info(each.device.index)) for each in kept}
    return {"rows": rows, "memory": told}


def _another_program(device, size):
    """One that has so much of a virtual device's memory; a real one has this process's context without it."""
    if device.type == "cuda":
        from proctorch import virtual

        if virtual.is_enabled():
            return virtual.occupy(size, device.index or 0)
    return contextlib.nullcontext()


class _Changed(TorchDispatchMode):
    """Raises a new `error()`, on one device, where tensors of a dtype are made, used in any way, or multiplied.

    An error that is raised holds its frames, and they hold the tensors, so none is kept here. The stages are `making`,
    `use` and `product`. A product of empty matrices passes: torch returns before it looks for a kernel.
    """

    def __init__(self, device, dtype, stage, error):
        super().__init__()
        self._what = device, dtype
        self._stage = stage
        self._error = error

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler, which takes a second

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        met = self._has(args, kwargs.values())
        if self._stage == "use" and met:
            raise self._error()
        result = func(*args, **kwargs)
        product = func.overloadpacket.__name__ in _PRODUCTS
        if self._stage == "product" and product and met and result.numel():
            raise self._error()
        if self._stage == "making" and self._has([result]):
            raise self._error()
        return result

    def _has(self, *values):
        given = [each for group in values for each in group]
        given += [each for group in given if isinstance(group, (list, tuple)) for each in group]
        return any((each.device, each.dtype) == self._what for each in given if isinstance(each, torch.Tensor))


def _refusal(name, error=RuntimeError):
    return functools.partial(error, f"this device does not support {name}")


def _fault(error):
    return functools.partial(error, "a fault that has nothing to do with dtypes")


def _works(probe, place, name):
    matrix = probe.attempt(torch.ones, 2, 2, dtype=getattr(torch, name), device=place).get("returned")
    return matrix is not None and "returned" in probe.attempt(torch.mm, matrix, matrix)


def _is_plain(rows):
    try:
        return json.loads(json.dumps(rows)) == rows
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


def _state(places):
    state = {
        "the default dtype": torch.get_default_dtype(),
        "the default device": torch.get_default_device(),
        "the gradient mode": torch.is_grad_enabled(),
        "the CPU's random generator": torch.get_rng_state(),
    }
    for place in places:
        state["the current accelerator"] = torch.accelerator.current_device_index()
        for index in range(torch.accelerator.device_count()):
            state[f"the random generator of {place}:{index}"] = torch.get_device_module(place).get_rng_state(index)
    return state


def _changes(before, after):
    return [name for name, was in before.items() if not _same(was, after[name])]


def _same(was, now):
    return torch.equal(was, now) if isinstance(was, torch.Tensor) else was == now
