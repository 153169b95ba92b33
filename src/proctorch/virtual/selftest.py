"""Whether there can be a virtual device here: what is asked before anything is touched, and a trial afterwards."""

import platform
import sys

import torch

from proctorch.virtual import guard

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
    """After registration."""
    return None


def has_real_device() -> bool:
    """Whether torch sees a CUDA device; asked before anything is simulated."""
    return torch.cuda.is_available()
