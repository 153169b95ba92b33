"""Asks for a device on machines that this one is not: without an accelerator, with another kind, with several."""

import contextlib
import unittest.mock

import torch
from torch.overrides import TorchFunctionMode


def pick(candidate, _device, probe, *, machine):
    """One call with nothing preferred, and what is warned of."""
    with probe.watch(), _simulated(**machine):
        return candidate.pick_device()


def picks(candidate, _device, _probe, *, calls):
    """Several calls that have no reason to fail, each `[machine, prefer]`, without `strict` and with it in turn."""
    found = []
    for at, (machine, prefer) in enumerate(calls):
        given = {"strict": False} if at % 2 else {}
        with _simulated(**machine):
            found.append(candidate.pick_device(prefer, **given))
    return found


def insist(candidate, _device, probe, *, calls, strict):
    """Several calls that may be refused, each `[machine, prefer]`."""
    told = []
    for machine, prefer in calls:
        with _simulated(**machine):
            told.append(probe.attempt(candidate.pick_device, prefer, strict=strict))
    return told


def pick_here(candidate, device, probe):
    """One call on the machine as it is, and an attempt to make a tensor on what was picked.

    A `cuda` device is called AMD's, by a torch that was built for it: of CUDA it has no version.
    """
    with contextlib.ExitStack() as stack:
        if device.type == "cuda":
            stack.enter_context(unittest.mock.patch("torch.version.cuda", None))
            stack.enter_context(unittest.mock.patch("torch.version.hip", "7.2", create=True))
        picked = candidate.pick_device()
    return {"picked": picked, "made": probe.attempt(torch.ones, 3, device=picked)}


@contextlib.contextmanager
def _simulated(*, kind, count, built=None):
    """A machine with `count` accelerators of one kind (`None`: without any), whatever way torch is asked.

    `built` is the kind that torch was built for, where that differs: built for CUDA, on a machine without a GPU.
    """
    built = kind or built

    def current_accelerator(check_available=False):
        return torch.device(built) if built and (kind or not check_available) else None

    def current_device_index():
        if kind is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        return 0

    answers = {
        "torch.accelerator.is_available": lambda: kind is not None,
        "torch.accelerator.current_accelerator": current_accelerator,
        "torch.accelerator.device_count": lambda: count,
        "torch.accelerator.current_device_index": current_device_index,
        "torch.accelerator.current_device_idx": current_device_index,
        "torch.backends.cuda.is_built": lambda: built == "cuda",
        "torch.backends.mps.is_built": lambda: built == "mps",
        "torch.backends.mps.is_available": lambda: kind == "mps",
    }
    for each in ("cuda", "xpu", "mps", "mtia"):
        mine = each == kind
        answers[f"torch.{each}.is_available"] = lambda mine=mine: mine
        answers[f"torch.{each}.device_count"] = lambda mine=mine: count if mine else 0
        answers[f"torch.{each}.current_device"] = current_device_index
    with contextlib.ExitStack() as stack:
        stack.enter_context(unittest.mock.patch("torch.version.cuda", "13.0" if built == "cuda" else None))
        for name, answer in answers.items():
            stack.enter_context(unittest.mock.patch(name, answer, create=True))
        stack.enter_context(_Allocations(kind, count, built))
        yield


class _Allocations(TorchFunctionMode):
    """Lets tensors be made on the simulated machine's devices, in truth on the CPU; elsewhere raises as torch does."""

    def __init__(self, kind, count, built):
        super().__init__()
        self._kind = kind
        self._count = count
        self._built = built
        self._made = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.Tensor.device.__get__:
            return next((where for made, where in self._made if made is args[0]), func(*args))
        where = _asked_for(func, args, kwargs)
        if where is None or where.type in ("cpu", "meta"):
            return func(*args, **kwargs)
        if where.type != self._built:
            raise AssertionError(f"Torch not compiled with {where.type.upper()} enabled")
        if where.type != self._kind or (where.index or 0) >= self._count:
            raise RuntimeError(f"{where} is not there")
        moved = func in (torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.xpu)
        made = args[0].clone() if moved else func(*args, **{**kwargs, "device": "cpu"})
        self._made.append((made, torch.device(where.type, where.index or 0)))
        return made


def _asked_for(func, args, kwargs):
    """The device that a call names, or None."""
    if func in (torch.Tensor.cuda, torch.Tensor.xpu):
        return torch.device(func.__name__)
    if func is torch.Tensor.to and len(args) > 1 and isinstance(args[1], str | torch.device):
        return torch.device(args[1])
    named = kwargs.get("device")
    return None if named is None else torch.device(named)
