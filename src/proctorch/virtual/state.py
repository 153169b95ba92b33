"""What is on: the machinery that is built once for a process, and the devices that can be seen now."""

import os
from dataclasses import dataclass, field
from typing import Any

import torch

from proctorch.virtual.native import Natives
from proctorch.virtual.pinned import PinnedMemory

NAME = "Virtual CUDA Device"


@dataclass
class Machinery:
    """Permanent once made: torch keeps pointers into it."""

    natives: Natives
    pinned: PinnedMemory
    hooks: Any
    keep: list[Any] = field(default_factory=list)


@dataclass
class _State:
    machinery: Machinery | None = None
    devices: int = 0  # that can be seen now; 0 is off
    child: bool = False  # this process was forked, and nothing has been done about it
    forked: bool = False  # … from one that had used the device


_state = _State()


def machinery() -> Machinery:
    assert _state.machinery is not None, "registered first"
    return _state.machinery


def is_registered() -> bool:
    return _state.machinery is not None


def register(made: Machinery) -> None:
    _state.machinery = made


def device_count() -> int:
    return _state.devices


def set_device_count(devices: int) -> None:
    _state.devices = devices
    machinery().natives.device_count.value = devices


def in_bad_fork() -> bool:
    return _state.forked


def current_device() -> int:
    return machinery().natives.current()


def set_current_device(index: int) -> int:
    """Changes it for this thread; returns the one before. An index below 0 changes nothing. It initialises CUDA."""
    if _state.devices and not torch.cuda._initialized:
        torch.cuda._lazy_init()
    if index >= _state.devices:
        raise no_such_device()
    return machinery().natives.make_current(index)


def index_of(device: torch.device | None) -> int:
    """The index of a cuda device, the current one if it has none. CUDA's error for one that does not exist.

    torch's C++ asks for lazy initialisation once for a process, and the device may be turned on more often than that.
    """
    if _state.devices and (_state.forked or not torch.cuda._initialized):
        torch.cuda._lazy_init()
    if device is None or device.index is None:
        if not _state.devices:
            raise no_such_device()
        return current_device()
    if _state.devices <= device.index:
        raise no_such_device()
    return device.index


def no_such_device() -> Exception:
    """What a CUDA call says about a device that does not exist (`c10/cuda/CUDAException.cpp`)."""
    if not _state.devices:
        torch.cuda._lazy_init()  # raises what torch says without a device
        return AssertionError("Torch not compiled with CUDA enabled")
    return torch.AcceleratorError(
        "CUDA error: invalid device ordinal\n"
        "Search for `cudaErrorInvalidDevice' in "
        "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, "
        "so the stacktrace below might be incorrect.\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
    )


def mend_thread_pool() -> None:
    """In a forked child: makes torch replace its thread pool now, in one thread.

    A pool that came through a fork is replaced at the next use (`caffe2/utils/threadpool/pthreadpool-cpp.cc`) without a
    lock, and the first backward on a device starts several threads that use it at once: the process would be ended.
    """
    if _state.child:
        torch.set_num_threads(torch.get_num_threads())
        _state.child = False


def _after_fork() -> None:
    _state.child = True
    if _state.devices:
        mend_thread_pool()
        if torch.cuda._initialized:
            _state.forked = True


os.register_at_fork(after_in_child=_after_fork)
