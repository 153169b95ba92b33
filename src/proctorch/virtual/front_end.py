"""What Python code sees: `torch.cuda`, `torch.accelerator`, generators, streams, storages.

Nearly all of `torch.cuda` is Python over functions called `torch._C._cuda_…`, looked up when called. Given those, it
runs as it is, from lazy initialisation (`torch/cuda/__init__.py`) to memory summaries. `torch.accelerator` is
likewise over `torch._C._accelerator_…`. The few classes and functions that are C, or that keep their own reference,
are replaced. All of it is put back by `take_away`.
"""

import sys
from typing import Any

import torch

from proctorch.virtual import collectives, generators, legacy, memory, state, storages, streams, tooling

_ABSENT: Any = object()
_CAPABILITY = (8, 0)
_undo: list[tuple[Any, str, Any]] = []


def put_in_place(budgets: list[int]) -> None:
    """Shows as many devices as there are budgets."""
    state.mend_thread_pool()
    state.set_device_count(len(budgets))
    for device, budget in zip(memory.devices, budgets, strict=False):
        device.budget = budget
        device.reset()
    streams.set_sync_debug_mode(0)
    for functions in (_cuda_functions(), _accelerator_functions(), collectives.functions(), tooling.functions()):
        for name, function in functions.items():
            _replace(torch._C, name, function)
    cuda = torch.cuda
    _replace(cuda, "_initialized", False)
    _replace(cuda, "_cached_device_count", None)
    _replace(cuda, "_queued_calls", [])
    _replace(cuda, "_cudart", tooling.runtime())
    _replace(cuda, "_is_compiled", lambda: True)
    _replace(cuda, "_is_in_bad_fork", state.in_bad_fork)
    _replace(cuda, "_device_count_nvml", lambda: -1)  # "unknown": then the functions above are asked
    _replace(cuda, "_exchange_device", state.set_current_device)
    _replace(cuda, "_maybe_exchange_device", _maybe_exchange_device)
    _replace(cuda, "_get_device_properties", _Properties)
    _replace(cuda, "default_generators", generators.default_generators(len(budgets)))
    for name in ("Stream", "Event", "ExternalStream"):
        for module in (cuda, cuda.streams):
            _replace(module, name, getattr(streams, name))
    for name, legacy_type in legacy.types().items():
        _replace(cuda, name, legacy_type)
    _replace(cuda.nvtx, "_nvtx", tooling.Nvtx())
    _replace(torch.autograd.profiler, "_supported_activities", tooling.activities)
    _replace(cuda.graphs, "_cuda_isCurrentStreamCapturing", _no)
    _replace(torch.backends.cudnn, "is_acceptable", _no)  # it would warn that there is no cuDNN
    _replace(sys.modules["torch.cuda.nccl"], "is_available", _no)  # it would warn that there is no NCCL
    _replace(torch, "Generator", generators.Generator)
    _replace(torch, "Stream", streams.AnyStream)
    _replace(torch, "Event", streams.AnyEvent)
    for name, function in storages.replacements().items():
        _replace(torch.UntypedStorage, name, function)
    hidden = sys.modules["torch.cuda.memory"]
    _replace(hidden, "mem_get_info", _memory_info)
    _replace(cuda, "mem_get_info", _memory_info)
    state.machinery().hooks.on()


def take_away() -> None:
    """Puts back all that was replaced."""
    streams.wait_for_device()
    state.machinery().hooks.off()
    while _undo:
        owner, name, value = _undo.pop()
        if value is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)
    state.machinery().natives.make_current(0)
    state.set_device_count(0)


def _replace(owner: Any, name: str, value: Any) -> None:
    _undo.append((owner, name, vars(owner).get(name, _ABSENT)))
    setattr(owner, name, value)


def _no(*_: Any) -> bool:
    return False


def _nothing(*_: Any, **__: Any) -> None:
    return None


class _Properties:
    """Takes the place of `torch.cuda._CudaDeviceProperties`. The name says what it is."""

    def __init__(self, index: int) -> None:
        self.name, (self.major, self.minor) = state.NAME, _CAPABILITY
        self.total_memory = memory.devices[index].budget
        self.multi_processor_count, self.warp_size = 1, 32
        self.max_threads_per_multi_processor, self.max_threads_per_block = 2048, 1024
        self.regs_per_multiprocessor, self.shared_memory_per_block = 65536, 49152
        self.is_integrated = self.is_multi_gpu_board = self.L2_cache_size = 0
        self.gcnArchName = ""
        self.uuid, self.pci_bus_id, self.pci_device_id, self.pci_domain_id = f"virtual-{index}", index, 0, 0

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count})"
        )


def _device(index: Any) -> memory.Device:
    device = torch.device("cuda", index) if isinstance(index, int) and index >= 0 else None
    return memory.devices[state.index_of(device)]


def _memory_info(device: Any = None) -> tuple[int, int]:
    torch.cuda._lazy_init()
    return tooling.memory_info(_device(torch.cuda._utils._get_device_index(device, optional=True)))


def _empty_cache() -> None:
    for device in memory.devices[: state.device_count()]:
        device.empty_cache()


def _reset_totals(index: int) -> None:
    device = _device(index)
    device.allocations = device.frees = device.allocated = device.freed = device.failures = 0


def _maybe_exchange_device(index: int) -> int:
    """The same as `_exchange_device`, yet a function of its own: `torch._dynamo` keeps a table by function."""
    return state.set_current_device(index)


def _set_device(index: int) -> None:
    state.set_current_device(index)


def _set_fraction(fraction: float, index: int) -> None:
    _device(index).fraction = fraction


def _current_stream(index: int) -> tuple[int, int, int]:
    index = _device(index).index
    return streams.current(index)[1], index, 1


def _default_stream(index: int) -> tuple[int, int, int]:
    return 0, _device(index).index, 1


def _set_stream(*, stream_id: int, device_index: int, device_type: int) -> None:
    """Like the C function: a stream of another device makes that device current."""
    assert device_type == 1
    state.set_current_device(device_index)
    streams.select(device_index, stream_id)


def _synchronize() -> None:
    streams.wait_for_device(state.current_device())


def _cuda_functions() -> dict[str, Any]:
    return {
        "_cuda_init": _nothing,
        "_cuda_getDeviceCount": state.device_count,
        "_cuda_getDevice": state.current_device,
        "_cuda_setDevice": _set_device,
        "_cuda_exchangeDevice": state.set_current_device,
        "_cuda_maybeExchangeDevice": _maybe_exchange_device,
        "_cuda_canDeviceAccessPeer": lambda device, peer: device != peer,
        "_cuda_synchronize": _synchronize,
        "_cuda_isInBadFork": state.in_bad_fork,
        "_cuda_getCurrentStream": _current_stream,
        "_cuda_getDefaultStream": _default_stream,
        "_cuda_getStreamFromExternal": lambda pointer, index: (pointer, index, 1),
        "_cuda_setStream": _set_stream,
        "_cuda_getCurrentRawStream": lambda index: streams.current(index)[1],
        "_cuda_isCurrentStreamCapturing": _no,
        "_cuda_sleep": _nothing,
        "_cuda_ipc_collect": _nothing,
        "_cuda_getCompiledVersion": lambda: 0,
        "_cuda_getArchFlags": lambda: "sm_{}{}".format(*_CAPABILITY),
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_emptyCache": _empty_cache,
        "_cuda_memoryStats": lambda index: _device(index).nested_stats(),
        "_cuda_resetPeakMemoryStats": lambda index: _device(index).reset_peak(),
        "_cuda_resetAccumulatedMemoryStats": _reset_totals,
        "_cuda_setMemoryFraction": _set_fraction,
        "_cuda_getMemoryFraction": lambda index: _device(index).fraction,
        "_cuda_set_sync_debug_mode": streams.set_sync_debug_mode,
        "_cuda_get_sync_debug_mode": streams.sync_debug_mode,
    }


def _accelerator_functions() -> dict[str, Any]:
    return {
        "_accelerator_getAccelerator": lambda: torch.device("cuda"),
        "_accelerator_getDeviceIndex": torch.cuda.current_device,
        "_accelerator_setDeviceIndex": _set_device,
        "_accelerator_exchangeDevice": state.set_current_device,
        "_accelerator_maybeExchangeDevice": _maybe_exchange_device,
        "_accelerator_getStream": torch.cuda.current_stream,
        "_accelerator_setStream": torch.cuda.set_stream,
        "_accelerator_synchronizeDevice": streams.wait_for_device,
        "_accelerator_isAllocatorInitialized": torch.cuda.is_initialized,
        "_accelerator_emptyCache": _empty_cache,
        "_accelerator_emptyHostCache": _nothing,
        "_accelerator_getDeviceStats": lambda index: _device(index).nested_stats(),
        "_accelerator_resetAccumulatedStats": _reset_totals,
        "_accelerator_resetPeakStats": lambda index: _device(index).reset_peak(),
        "_accelerator_getMemoryInfo": _memory_info,
    }
