"""The CUDA hooks: what `libtorch_cpu` asks of a CUDA library that may or may not be there.

`aten/src/ATen/detail/CUDAHooksInterface.h`: on a build without CUDA one object answers "there is no CUDA" to
everything, and then the autograd engine refuses nodes on cuda tensors (`torch/csrc/autograd/engine.cpp` demands that
the accelerator of a node be the process's), and `torch.accelerator` sees none. While the virtual device is on, that
object's vtable pointer points to a copy of its vtable with a few answers changed; turning it off puts the old pointer
back.
"""

import ctypes

from proctorch.virtual.native import Natives, VTable, library, virtual_functions

_HEADERS = ("ATen/detail/AcceleratorHooksInterface.h", "ATen/detail/CUDAHooksInterface.h")


class Hooks:
    def __init__(self, natives: Natives, *, pinned_allocator: int, is_pinned: int) -> None:
        """`pinned_allocator` is the address of a `c10::Allocator`, `is_pinned` of a function of a pointer."""
        get = library("libtorch_cpu.so")._ZN2at6detail12getCUDAHooksEv
        get.restype = ctypes.c_void_p
        self._pointer = ctypes.c_void_p.from_address(get())
        original = self._pointer.value
        assert original is not None
        yes, no = natives.one, natives.zero
        slots = {
            **dict.fromkeys(("hasCUDA", "isBuilt", "isAvailable", "hasPrimaryContext"), yes),
            **dict.fromkeys(("deviceCount", "getNumGPUs"), natives.count),
            **dict.fromkeys(("getCurrentDevice", "current_device"), natives.current_index),
            # `init` has nothing to do; the rest are libraries that are not here, so that torch takes its own kernels.
            **dict.fromkeys(("init", "hasCuDNN", "compiledWithCuDNN", "compiledWithMIOpen"), no),
            **dict.fromkeys(("hasMAGMA", "hasCuSOLVER", "hasCuBLASLt", "deviceSynchronize"), no),
            "isPinnedPtr": is_pinned,
            "getPinnedMemoryAllocator": natives.returning(pinned_allocator),
        }
        self._table = VTable(virtual_functions(*_HEADERS), slots, default=None, original=original)
        self._original = original

    def on(self) -> None:
        self._pointer.value = self._table.address

    def off(self) -> None:
        self._pointer.value = self._original
