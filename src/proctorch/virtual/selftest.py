"""Whether there can be a virtual device here: what is asked before anything is touched, and a trial afterwards."""

import platform
import sys

import torch

from proctorch.virtual import front_end, guard, memory

_TESTED = ("2.12", "2.13", "2.14")


def obstacle() -> str | None:
    """Why not, in one line; None if nothing is known to be in the way."""
    version = torch.__version__.partition("+")[0]
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 1 << 32:
        return f"the virtual device needs Linux on x86-64, and this is {platform.system()} on {platform.machine()}"
    if sys.implementation.name != "cpython":
        return f"the virtual device needs CPython, and this is {sys.implementation.name}"
    if ".".join(version.split(".")[:2]) not in _TESTED:
        return f"the virtual device is tested with torch {', '.join(_TESTED)}, and this is torch {torch.__version__}"
    if torch.version.hip is not None:
        return "the virtual device does not work with torch built for ROCm"
    if has_real_device():
        return f"there is a real CUDA device here ({torch.cuda.get_device_name()}): use that one"
    if guard.is_taken() and torch.version.cuda is None:
        return "something else has registered a CUDA device with torch"
    return None


def failure() -> str | None:
    """What does not work after registration, in one line; None if the trial goes well.

    There is no backward in it: a process that has run one cannot be forked and run another (torch's engine says so).
    """
    try:
        front_end.put_in_place([1 << 20, 1 << 20])
        try:
            _try_out()
        finally:
            front_end.take_away()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"the virtual device fails its self-test with torch {torch.__version__}: {type(error).__name__}: {error}"
    return None


def backward_works() -> bool:
    """Whether autograd's engine has a queue for the device.

    It makes one for each device that is known when the process's first backward pass runs, and none later
    (`Engine::initialize_device_threads_pool` in `torch/csrc/autograd/engine.cpp`). A process that forks must not try.
    """
    front_end.put_in_place([1 << 20])
    try:
        torch.ones(1, device="cuda:0", requires_grad=True).sum().backward()
    except RuntimeError:
        return False
    finally:
        front_end.take_away()
    return True


def _try_out() -> None:
    x = torch.arange(4.0, device="cuda:0")
    _check(type(x) is torch.Tensor and x.is_cuda, "a tensor on the device")
    _check((x.view(2, 2) @ x.view(2, 2)).tolist() == [[2, 3], [6, 11]], "a product")
    _check((x * 2)[1:].to("cuda:1").cpu().tolist() == [2, 4, 6], "copies")
    _check(memory.devices[0].stats().live == 512, "the memory of one tensor")
    for wrong, error in (
        (lambda: x + torch.ones(4), RuntimeError),
        (lambda: torch.ones(4).mul_(x), RuntimeError),
        (lambda: torch.empty(1 << 20, device="cuda"), torch.OutOfMemoryError),
        (lambda: torch.empty(1, device="cuda:2"), torch.AcceleratorError),
    ):
        try:
            wrong()
        except error:
            continue
        raise AssertionError("something that must be refused is not")
    torch.cuda.set_device(1)
    _check(torch.empty(1, device="cuda").get_device() == 1, "the current device")
    _check(torch.empty(4, pin_memory=True).is_pinned() and not torch.empty(4).is_pinned(), "pinned memory")


def _check(good: bool, what: str) -> None:
    if not good:
        raise AssertionError(f"{what} is wrong")


def has_real_device() -> bool:
    """Whether torch sees a CUDA device; asked before anything is simulated."""
    return torch.cuda.is_available()
