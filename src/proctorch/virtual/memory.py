"""Device memory: what is charged when, the budget of each device, and running out of it.

A block is charged when a storage is made and returned exactly when it dies. torch keeps the Python object of a tensor
for as long as C++ refers to it, and the CPU tensor under a cuda one (see `relabel`) is held by the cuda storage
alone: a weak reference to that object therefore ends with the storage, whoever held it last — a view, a tensor saved
for backward, the frame of an exception. The callback is the append of a deque, which is C: it runs no Python code,
whatever is going on.

Sizes are rounded as CUDA's allocator rounds blocks, to 512 bytes (`c10/cuda/CUDACachingAllocator.cpp`). Segments and
fragmentation are not simulated: what fits in the budget can be allocated.
"""

import os
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from proctorch.virtual.native import MOST_DEVICES

_BLOCK = 512
_SMALL_SEGMENT, _LARGE_SEGMENT, _SMALL = 2 << 20, 20 << 20, 1 << 20
_LOG_LIMIT = 100_000
DEFAULT_BUDGET = 8 << 30
_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", 1)}
_UNITS |= {f"{prefix}B": 1000**power for power, prefix in enumerate("KMGT", 1)}


@dataclass(frozen=True)
class MemoryStats:
    """Bytes and counts of one device since it was turned on (`peak`: or since the peak was reset)."""

    live: int
    peak: int
    budget: int
    allocations: int
    failures: int


@dataclass(frozen=True)
class Moment:
    """One entry of the timeline: `size` bytes came (or went, if negative), or were asked for in vain (`failed`)."""

    seconds: float
    device: int
    size: int
    live: int
    failed: bool = False


def parse_size(size: object) -> int:
    """`'256MiB'`, `'1.5 GB'` or a number of bytes; ValueError with one clear line for anything else."""
    number = -1.0
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
        if match and match[2] in _UNITS:
            number = float(match[1]) * _UNITS[match[2]]
    elif isinstance(size, int) and not isinstance(size, bool):
        number = size
    if not 1 <= number < 1 << 62:
        raise ValueError(f"device memory is a size such as '256MiB' or a number of bytes, not {size!r}")
    return int(number)


def parse_budgets(memory: object, devices: object) -> list[int]:
    """The budget of each device. `memory` is one size for all, or a sequence with one for each."""
    if devices is not None and (
        not isinstance(devices, int) or isinstance(devices, bool) or not 1 <= devices <= MOST_DEVICES
    ):
        raise ValueError(f"the number of virtual devices is 1 to {MOST_DEVICES}, not {devices!r}")
    if isinstance(memory, Sequence) and not isinstance(memory, (str, bytes)):
        budgets = [parse_size(each) for each in memory]
        if not 1 <= len(budgets) <= MOST_DEVICES or (devices is not None and len(budgets) != devices):
            raise ValueError(
                f"{len(budgets)} memory sizes for {devices if devices is not None else f'1 to {MOST_DEVICES}'} devices"
            )
        return budgets
    return [DEFAULT_BUDGET if memory is None else parse_size(memory)] * (1 if devices is None else devices)


class _Block(weakref.ref[torch.Tensor]):
    __slots__ = ("size",)
    size: int


class Device:
    """The memory of one device. Safe to use from several threads."""

    def __init__(self, index: int, log: deque[Moment]) -> None:
        self.index = index
        self.budget = DEFAULT_BUDGET
        self.fraction = 1.0
        self.occupied = 0
        self.log: deque[Moment] | None = None
        self._all_logs = log
        self._lock = threading.RLock()
        self._blocks: dict[int, _Block] = {}
        self._released: deque[_Block] = deque()
        self.live = self.peak = 0
        self.reset()

    def reset(self) -> None:
        """Starts all statistics anew; what is live stays live."""
        with self._lock:
            self._settle()
            self.peak = self.live
            self.reserved = self.reserved_peak = self.live
            self.allocations = self.failures = self.allocated = 0
            self.frees = self.freed = 0
            self.fraction = 1.0

    @property
    def allowed(self) -> int:
        return int(self.budget * self.fraction)

    @property
    def limit(self) -> int:
        return min(self.allowed, self.budget - self.occupied)

    @property
    def free(self) -> int:
        """What the driver has to give: it does not know what a process has allowed itself."""
        return self.budget - self.occupied - self.reserved

    def occupy(self, size: int) -> None:
        """Another program takes `size` bytes, or gives them back, if negative. ValueError if they are not free."""
        with self._lock:
            self._settle()
            if size > self.free:
                raise ValueError(f"virtual device {self.index} has {self.free} bytes free, and not {size}")
            self.occupied += size

    @property
    def blocks(self) -> int:
        return len(self._blocks)

    def block_sizes(self) -> list[int]:
        """The bytes of each live block, oldest first."""
        with self._lock:
            self._settle()
            return [block.size for block in self._blocks.values()]

    def record(self, *, on: bool) -> None:
        self.log = self._all_logs if on else None

    def settle(self) -> None:
        """Counts what has died since. Called before anything is read."""
        with self._lock:
            self._settle()

    def require(self, size: int) -> None:
        """OutOfMemoryError unless `size` bytes can be had now; for callers that would otherwise allocate them first."""
        size = (size + _BLOCK - 1) // _BLOCK * _BLOCK
        with self._lock:
            self._settle()
            if self.live + size > self.limit:
                self._fail(size)

    def charge(self, tensor: torch.Tensor, size: int) -> None:
        """Charges `size` bytes for as long as the storage under `tensor` lives. OutOfMemoryError if they do not fit."""
        size = (size + _BLOCK - 1) // _BLOCK * _BLOCK
        with self._lock:
            if self._released:
                self._settle()
            live = self.live + size
            if live > self.limit:
                self._fail(size)
            block = _Block(tensor, self._released.append)
            block.size = size
            self._blocks[id(block)] = block
            self.live = live
            self.peak = max(self.peak, live)
            self.allocations += 1
            self.allocated += size
            if live > self.reserved:
                self._reserve(size)
            if self.log is not None:
                self.log.append(Moment(time.perf_counter(), self.index, size, live))

    def _settle(self) -> None:
        while self._released:
            block = self._released.popleft()
            if self._blocks.pop(id(block), None) is not None:
                self.live -= block.size
                self.frees += 1
                self.freed += block.size
                if self.log is not None:
                    self.log.append(Moment(time.perf_counter(), self.index, -block.size, self.live))

    def _reserve(self, size: int) -> None:
        segment = _LARGE_SEGMENT if size > _SMALL else _SMALL_SEGMENT
        self.reserved = max(min(-(-self.live // segment) * segment, self.limit), self.live)
        self.reserved_peak = max(self.reserved_peak, self.reserved)

    def empty_cache(self) -> None:
        with self._lock:
            self._settle()
            self.reserved = max(min(-(-self.live // _SMALL_SEGMENT) * _SMALL_SEGMENT, self.limit), self.live)

    def reset_peak(self) -> None:
        with self._lock:
            self._settle()
            self.peak, self.reserved_peak = self.live, self.reserved

    def stats(self) -> MemoryStats:
        with self._lock:
            self._settle()
            return MemoryStats(self.live, self.peak, self.limit, self.allocations, self.failures)

    def _fail(self, size: int) -> None:
        """CUDA's message, `c10/cuda/CUDACachingAllocator.cpp`. Like CUDA, gives back what is cached first."""
        self.empty_cache()
        self.failures += 1
        if self.log is not None:
            self.log.append(Moment(time.perf_counter(), self.index, size, self.live, failed=True))
        allowed = f"{_text(self.allowed)} allowed; " if self.fraction < 1 else ""
        link = "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-alloc-conf"
        raise torch.OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {_text(size)}. GPU {self.index} has a total capacity of "
            f"{_text(self.budget)} of which {_text(self.free)} is free. "
            f"Process {os.getpid()} has {_text(self.reserved)} memory in use. {allowed}"
            f"Of the allocated memory {_text(self.live)} is allocated by PyTorch, and "
            f"{_text(self.reserved - self.live)} is reserved by PyTorch but unallocated. If reserved but unallocated "
            "memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
            f"documentation for Memory Management  ({link})"
        )

    def nested_stats(self) -> dict[str, Any]:
        """What `torch._C._cuda_memoryStats` returns, from which `torch.cuda.memory_stats` and its summary are made."""
        with self._lock:
            self._settle()
            blocks = _stat(self.blocks, self.blocks, self.allocations, self.frees)
            used = _stat(self.live, self.peak, self.allocated, self.freed)
            reserved = _stat(self.reserved, self.reserved_peak, self.reserved_peak, self.reserved_peak - self.reserved)
            nothing = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
            counts = ("num_sync_all_streams", "num_device_alloc", "num_device_free")
            return {
                **dict.fromkeys(counts, 0),
                # What is cached is given back and the allocation tried again, before it is an error.
                **dict.fromkeys(("num_alloc_retries", "num_ooms"), self.failures),
                "max_split_size": -1,
                **dict.fromkeys(("allocation", "active"), blocks),
                **dict.fromkeys(("allocated_bytes", "active_bytes", "requested_bytes"), used),
                **dict.fromkeys(("segment", "inactive_split", "inactive_split_bytes"), _stat(0, 0, 0, 0)),
                "reserved_bytes": reserved,
                **dict.fromkeys(("oversize_allocations", "oversize_segments"), nothing),
            }


def _stat(current: int, peak: int, allocated: int, freed: int) -> dict[str, dict[str, int]]:
    all_pools = {"current": current, "peak": peak, "allocated": allocated, "freed": freed}
    return {"all": all_pools, "small_pool": dict.fromkeys(all_pools, 0), "large_pool": dict(all_pools)}


def _text(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"


#: The timeline, when it is recorded; of all devices.
timeline: deque[Moment] = deque(maxlen=_LOG_LIMIT)
#: All devices there can ever be: a tensor may outlive the device it was made on.
devices = [Device(index, timeline) for index in range(MOST_DEVICES)]
