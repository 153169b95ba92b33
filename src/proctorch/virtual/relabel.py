"""One piece of host memory, seen as a CPU tensor or as a cuda tensor.

A cuda tensor here is a real `torch.Tensor` whose C++ device is cuda:N, over ordinary host memory. torch has no call
that makes one on a CPU build, but DLPack does (`aten/src/ATen/DLConvertor.cpp`): a CPU tensor is exported as a
capsule, the device named in the capsule is overwritten, and the capsule is imported again. The other way round gives
CPU kernels an alias of a cuda tensor. Neither copies anything, and each side keeps the memory alive.

DLPack rewrites the strides of dimensions of size 1, which `as_strided` puts back.
"""

import ctypes
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

#: Redispatching with this set goes straight to an operation's CPU kernel, under autograd, autocast and modes.
CPU_KERNELS = DispatchKeySet(DispatchKey.CPU)

_TYPE = 8  # DLTensor is a data pointer, then the device: its type and its index, four bytes each (dlpack.h)
_CPU_DEVICE = 1  # kDLCPU, index 0
_CUDA_DEVICE = 2  # kDLCUDA
#: A capsule is an object's head, then its pointer (Objects/capsule.c). The call that reads it costs too much.
_POINTER = object.__basicsize__

_export: Any = torch._C._to_dlpack
_import: Any = torch._C._from_dlpack
_word: Any = ctypes.c_int64.from_address
_as_strided: Any = torch.ops.aten.as_strided.default._handle.redispatch_boxed
_conjugate: Any = torch.ops.aten._conj.default._handle.redispatch_boxed
_negative: Any = torch.ops.aten._neg_view.default._handle.redispatch_boxed


def works() -> bool:
    """Whether the pointer of a capsule is where it is expected."""
    pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = _export(torch.empty(1))
    return bool(_word(id(capsule) + _POINTER).value == pointer(capsule, b"dltensor"))


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """A CPU tensor over the memory of a cuda tensor."""
    if tensor.is_conj():  # a lazy conjugate: the flag is no part of DLPack, so it is taken off and put on again
        return _conjugate(CPU_KERNELS, on_host(_conjugate(CPU_KERNELS, tensor)))  # type: ignore[no-any-return]
    if tensor.is_neg():
        return _negative(CPU_KERNELS, on_host(_negative(CPU_KERNELS, tensor)))  # type: ignore[no-any-return]
    capsule = _export(tensor)
    _word(_word(id(capsule) + _POINTER).value + _TYPE).value = _CPU_DEVICE
    alias = _import(capsule)
    if alias.stride() != tensor.stride():
        alias = _as_strided(CPU_KERNELS, alias, tensor.size(), tensor.stride(), 0)
    return alias  # type: ignore[no-any-return]


def on_device(tensor: torch.Tensor, index: int) -> torch.Tensor:
    """A tensor on cuda:`index` over the memory of a CPU tensor."""
    capsule = _export(tensor)
    _word(_word(id(capsule) + _POINTER).value + _TYPE).value = _CUDA_DEVICE | index << 32
    alias = _import(capsule)
    if alias.stride() != tensor.stride():
        alias = _as_strided(CPU_KERNELS, alias, tensor.size(), tensor.stride(), 0)
    return alias  # type: ignore[no-any-return]
