"""Views: operations whose result shares the storage of an argument.

Their CPU kernels only compute sizes and strides, so they run on the cuda tensor itself, and storage, device and the
autograd relation of base and view are what they should be. All other views in torch are composed of these.

They are called more often than anything else, so they take no way through Python where that can be avoided. Each is
registered as a Python function that redispatches to the CPU; `without_python` then puts the CPU's own C++ kernel into
the CUDA place of the operation's dispatch table (`aten/src/ATen/core/dispatch/OperatorEntry.h`): a row of
`KernelFunction`s, one for each backend, the CPU's before CUDA's. Where the row does not look as expected nothing is
changed and views cost some four microseconds more.
"""

import ctypes
import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from proctorch.virtual.native import library_of
from proctorch.virtual.relabel import CPU_KERNELS

_VIEWS = (
    "as_strided",
    "as_strided_",
    "view",
    "view.dtype",
    "_reshape_alias",
    "unfold",
    "view_as_real",
    "view_as_complex",
)
#: A `KernelFunction` in words: the functor, which is reference-counted, its boxed call, two unboxed ones, a token.
_ENTRY = 5
_FUNCTOR, _BOXED, _UNBOXED = 0, 1, slice(2, 4)
#: Where in an operation's entry its row begins differs from one torch to the next, but it is not far.
_SEARCHED = 100
_MOST_REFERENCES = 10_000


def kernels() -> dict[str, Callable[..., torch.Tensor]]:
    """A kernel for each view that has one for the CPU, by its name in `native_functions.yaml`."""
    return {name: functools.partial(_handle(name).redispatch_boxed, CPU_KERNELS) for name in _VIEWS}


def entries() -> dict[str, list[int]]:
    """The beginnings of the operations' entries as words, for `without_python`: as they are before registration."""
    return {name: list(_entry(name)) for name in _VIEWS}


def without_python(before: Mapping[str, list[int]]) -> bool:
    """Lets views run the CPU's C++ kernels directly, once their Python kernels are registered. False: left alone."""
    places = {name: _cuda_place(words, list(_entry(name))) for name, words in before.items()}
    if None in places.values() or len(set(places.values())) != 1:
        return False
    for name, place in places.items():
        assert place is not None
        entry = _entry(name)
        kernel = place - _ENTRY
        ctypes.c_uint32.from_address(entry[kernel + _FUNCTOR] + 8).value += 1  # after its vtable (intrusive_ptr.h)
        for word in range(_ENTRY):
            entry[place + word] = entry[kernel + word]
    return True


def _cuda_place(before: list[int], after: list[int]) -> int | None:
    """Where CUDA's kernel is in an entry: registering it changed the words there. None if anything looks wrong."""
    changed = (position for position, words in enumerate(zip(before, after, strict=True)) if words[0] != words[1])
    place = next(changed, 0)
    if place < _ENTRY or place + _ENTRY > _SEARCHED:
        return None
    ours, kernel = after[place : place + _ENTRY], after[place - _ENTRY : place]
    if library_of(ours[_BOXED]) != "libtorch_python.so" or any(ours[_UNBOXED]):
        return None
    called = [kernel[_BOXED], *filter(None, kernel[_UNBOXED])]
    if len(called) < 2 or {library_of(each) for each in called} != {"libtorch_cpu.so"}:
        return None
    if not kernel[_FUNCTOR] or library_of(ctypes.c_uint64.from_address(kernel[_FUNCTOR]).value) != "libtorch_cpu.so":
        return None
    return place if 1 <= ctypes.c_uint32.from_address(kernel[_FUNCTOR] + 8).value < _MOST_REFERENCES else None


def _handle(name: str) -> Any:
    base, _, overload = name.partition(".")
    return torch._C._dispatch_find_schema_or_throw(f"aten::{base}", overload)


def _entry(name: str) -> ctypes.Array[ctypes.c_uint64]:
    """The first words of the `OperatorEntry` that a handle points to: Python object, then C++ handle, then entry."""
    handle = _handle(name)
    pointer = ctypes.c_uint64.from_address(id(handle) + object.__basicsize__).value
    return (ctypes.c_uint64 * _SEARCHED).from_address(ctypes.c_uint64.from_address(pointer).value)
