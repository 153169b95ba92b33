"""The CUDA device guard: how torch's C++ asks which device is current, how many there are, and for their streams.

`c10/core/impl/DeviceGuardImplInterface.h` declares it, and each device type has one place in
`c10::impl::device_guard_impl_registry`. A build without CUDA has nobody in CUDA's place, and the first backward on a cuda
tensor ends the process. Ours is an object of one word, a pointer to a vtable of functions from `native`.
"""

import ctypes

from proctorch.virtual.native import Natives, VTable, library, virtual_functions

_CUDA = 1  # DeviceType::CUDA, c10/core/DeviceType.h
_DEVICE_TYPES = 21


class Guard:
    """Must be kept for as long as the process lives, once installed."""

    def __init__(self, natives: Natives) -> None:
        slots = {
            "type": natives.one,
            "exchangeDevice": natives.exchange_device,
            "getDevice": natives.current_device,
            "deviceCount": natives.most_devices,
            "elapsedTime": natives.nothing_elapsed,
            **dict.fromkeys(("setDevice", "uncheckedSetDevice"), natives.set_device),
            **dict.fromkeys(("getStream", "getDefaultStream", "exchangeStream"), natives.default_stream),
            **dict.fromkeys(("getStreamFromGlobalPool", "getNewStream"), natives.default_stream),
            **dict.fromkeys(("queryEvent", "queryStream"), natives.one),
        }
        # What else is asked (record, block, synchronize…) has nothing to do: every operation is done when it returns.
        self._table = VTable(virtual_functions("c10/core/impl/DeviceGuardImplInterface.h"), slots, default=natives.zero)
        self._object = ctypes.c_void_p(self._table.address)

    def install(self) -> None:
        """Puts the guard in CUDA's place."""
        _registry()[_CUDA] = ctypes.addressof(self._object)


def is_taken() -> bool:
    """Whether a build with CUDA has put its own guard there."""
    return bool(_registry()[_CUDA])


def _registry() -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * _DEVICE_TYPES).in_dll(library("libc10.so"), "_ZN3c104impl26device_guard_impl_registryE")
