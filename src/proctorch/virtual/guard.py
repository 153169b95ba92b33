"""The CUDA device guard: how torch's C++ asks which device is current, how many there are, and for their streams.

`c10/core/impl/DeviceGuardImplInterface.h` declares it, and each device type has one place in
`c10::impl::device_guard_impl_registry`. A build without CUDA has nobody in CUDA's place, and the first backward on a cuda
tensor ends the process. Ours is an object of one word, a pointer to a vtable of functions from `native`.
"""

import ctypes

from proctorch.virtual.native import Natives, VTable, library, virtual_functions

_CUDA = 1  # DeviceType::CUDA, c10/core/DeviceType.h
_DEVICE_TYPES = 21


def install(natives: Natives) -> object:
    """Puts the guard in CUDA's place, for as long as the process lives. Returns what must be kept."""
    slots = {
        "type": natives.one,
        "exchangeDevice": natives.exchange_device,
        "getDevice": natives.current_device,
        "setDevice": natives.set_device,
        "uncheckedSetDevice": natives.set_device,
        "getStream": natives.default_stream,
        "getDefaultStream": natives.default_stream,
        "getStreamFromGlobalPool": natives.default_stream,
        "getNewStream": natives.default_stream,
        "exchangeStream": natives.default_stream,
        "deviceCount": natives.most_devices,
        "queryEvent": natives.one,
        "queryStream": natives.one,
        "elapsedTime": natives.nothing_elapsed,
    }
    # Whatever else is asked (record, block, synchronize…) has nothing to do here: every operation is done when it returns.
    table = VTable(virtual_functions("c10/core/impl/DeviceGuardImplInterface.h"), slots, default=natives.zero)
    guard = ctypes.c_void_p(table.address)
    _registry()[_CUDA] = ctypes.addressof(guard)
    return table, guard


def is_taken() -> bool:
    """Whether a build with CUDA has put its own guard there."""
    return bool(_registry()[_CUDA])


def _registry() -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * _DEVICE_TYPES).in_dll(library("libc10.so"), "_ZN3c104impl26device_guard_impl_registryE")
