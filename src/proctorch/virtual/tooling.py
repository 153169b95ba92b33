"""What looks at a running program: NVTX ranges, the profiler's switches, the CUDA runtime, memory snapshots.

Code that is annotated for a profiler must run; there is nothing here for the annotations to mark.
"""

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from proctorch.virtual import memory, state

_SMALL = 1 << 20  # a segment's kind, `c10/cuda/CUDACachingAllocator.h`
_ADDRESS = 0x7F00_0000_0000  # where the made-up addresses of a snapshot begin, for each device anew
_real_activities: Any = torch._C._autograd._supported_activities


class Nvtx:
    """Takes the place of `torch._C._nvtx`. Ranges nest, so a push says how deep it is, as the library does."""

    def __init__(self) -> None:
        self._depth = 0
        self._numbers = itertools.count(1)

    def rangePushA(self, _: str) -> int:  # noqa: N802 - the library's names
        self._depth += 1
        return self._depth - 1

    def rangePop(self) -> int:  # noqa: N802
        self._depth -= 1
        return self._depth

    def rangeStartA(self, _: str) -> int:  # noqa: N802
        return next(self._numbers)

    def rangeEnd(self, _: int) -> None:  # noqa: N802
        pass

    def markA(self, _: str) -> None:  # noqa: N802
        pass

    def deviceRangeStart(self, _: str, __: int) -> object:  # noqa: N802
        return object()

    def deviceRangeEnd(self, _: object, __: int) -> None:  # noqa: N802
        pass


def _success(*_: object) -> int:
    return 0


def runtime() -> SimpleNamespace:
    """Takes the place of the CUDA runtime, `torch.cuda.cudart()`: all that torch binds of it."""
    calls = ("cudaProfilerStart", "cudaProfilerStop", "cudaHostRegister", "cudaHostUnregister", "cudaStreamDestroy")
    return SimpleNamespace(
        cudaError=SimpleNamespace(success=0),
        cudaGetErrorString=lambda error: "no error" if error == 0 else f"error {error}",
        cudaMemGetInfo=lambda index: memory_info(memory.devices[index]),
        **dict.fromkeys(calls, _success),
    )


def memory_info(device: memory.Device) -> tuple[int, int]:
    """Free and total bytes, as the driver counts."""
    device.settle()
    return device.free, device.budget


def activities() -> set[Any]:
    """With CUDA's among them the profiler takes its ordinary way; else it asks CUDA for events and prints why not."""
    return {*_real_activities(), torch.profiler.ProfilerActivity.CUDA}


def snapshot(*_: object) -> dict[str, Any]:
    """What `torch._C._cuda_memorySnapshot` returns: a segment for each block, since segments are not simulated."""
    devices = memory.devices[: state.device_count()]
    return {
        "segments": [segment for device in devices for segment in _segments(device)],
        "device_traces": [[] for _ in devices],
        "allocator_settings": {},
        "external_annotations": [],
    }


def _segments(device: memory.Device) -> list[dict[str, Any]]:
    segments: list[dict[str, Any]] = []
    address = _ADDRESS
    for size in device.block_sizes():
        block = {"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}
        segments.append(
            {
                "device": device.index,
                "address": address,
                **dict.fromkeys(("total_size", "allocated_size", "active_size", "requested_size"), size),
                "stream": 0,
                "segment_type": "small" if size <= _SMALL else "large",
                "segment_pool_id": (0, 0),
                "is_expandable": False,
                "frames": [],
                "blocks": [block],
            }
        )
        address += size
    return segments


def functions() -> dict[str, Callable[..., Any]]:
    """By their names in `torch._C`."""
    return {
        "_cuda_memorySnapshot": snapshot,
        "_cuda_record_memory_history": lambda *_, **__: None,
        "_cuda_record_memory_history_legacy": lambda *_, **__: None,
        "_cuda_isHistoryEnabled": lambda: False,
    }
