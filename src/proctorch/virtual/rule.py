"""The same-device rule: which operations refuse tensors on different devices, and with which words.

torch states it in three places, and so does this file. Most operations refuse any difference, zero-dimensional tensors
included: torchgen writes that check before each CUDA kernel. Those that `native_functions.yaml` (it comes with torch)
marks `device_check: NoCheck # TensorIterator` leave it to TensorIterator, which admits one zero-dimensional operand on
the CPU, never as the result (`aten/src/ATen/TensorIterator.cpp`, compute_types). And a few have rules of their own.

Nothing here runs unless the tensors of a call are on different devices.
"""

import functools
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

_CPU = torch.device("cpu")

#: index, index_put and their relatives: indices may be on the CPU or with the indexed tensor.
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
#: The value is one number, read on the host if need be (`aten/src/ATen/native/Fill.cpp`).
_FILLING = {"fill_.Tensor", "fill.Tensor"}
_MASKED_FILLING = {"masked_fill", "masked_fill_"}
#: Any zero-dimensional operand may be on the CPU (`aten/src/ATen/native/TensorCompare.cpp`, where_self_out).
_CHOOSING = {"where.self", "where.self_out"}


def refuse(name: str, tensors: list[tuple[str, torch.Tensor]], written: set[str]) -> None:
    """RuntimeError, in torch's words, if CUDA refuses this call of operation `name`.

    `tensors` are the arguments with their names, in order; `written` the names of those that receive the result.
    """
    base = name.partition(".")[0]
    if base in INDEXING:
        _refuse_indexing(tensors)
    elif name in _FILLING:
        pass
    elif base in _MASKED_FILLING:
        _refuse_masked_filling(dict(tensors))
    elif name in _CHOOSING:
        _refuse_in_iterator([each for each in tensors if not _is_cpu_number(each[1]) or each[0] in written], set())
    elif name in _iterator_operations():
        _refuse_shapes([each for each in tensors if each[0] == "self" or each[0] not in written])
        _refuse_in_iterator(tensors, written)
    elif name not in _unchecked_operations():
        _refuse_any_difference(name, tensors)


def _refuse_any_difference(name: str, tensors: list[tuple[str, torch.Tensor]]) -> None:
    """`c10::impl::common_device_check_failure` (aten/src/ATen/core/adaption.cpp)."""
    common = tensors[0][1].device
    for argument, tensor in tensors:
        if tensor.device != common:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but got {argument} is on {tensor.device}, "
                f"different from other tensors on {common} (when checking argument in method {_wrapper(name)})"
            )


def _refuse_in_iterator(tensors: list[tuple[str, torch.Tensor]], written: set[str]) -> None:
    common = next((tensor.device for _, tensor in tensors if tensor.device != _CPU), _CPU)
    numbers = 0
    for argument, tensor in tensors:
        if common != _CPU and argument not in written and _is_cpu_number(tensor):
            numbers += 1
            if numbers > 1:
                raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
        elif tensor.device != common:
            _two_devices(common, tensor.device)


def _refuse_indexing(tensors: list[tuple[str, torch.Tensor]]) -> None:
    indexed = tensors[0][1]
    for argument, tensor in tensors[1:]:
        if argument == "indices" and tensor.device not in (_CPU, indexed.device):
            raise RuntimeError(
                f"indices should be either on {_CPU} or on the same device as the indexed tensor ({indexed.device})"
            )
        if argument == "values" and tensor.device != indexed.device and not _is_cpu_number(tensor):
            _two_devices(indexed.device, tensor.device)


def _refuse_masked_filling(tensors: dict[str, torch.Tensor]) -> None:
    """`aten/src/ATen/native/cuda/IndexKernel.cpp`, masked_fill__cuda."""
    target, mask = tensors["self"], tensors["mask"]
    if mask.device != target.device:
        raise RuntimeError(
            "expected self and mask to be on the same device, but "
            f"got mask on {mask.device} and self on {target.device}"
        )
    if "value" in tensors and tensors["value"].device not in (target.device, _CPU):
        raise RuntimeError("masked_fill: Expected inputs to be on same device")


def _two_devices(common: torch.device, other: torch.device) -> None:
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {common} and {other}!"
    )


def _is_cpu_number(tensor: torch.Tensor) -> bool:
    return tensor.dim() == 0 and tensor.device == _CPU


def _wrapper(name: str) -> str:
    """What torchgen calls the checked function."""
    base, _, overload = name.partition(".")
    return f"wrapper_CUDA_{base}" if not overload or overload.endswith("out") else f"wrapper_CUDA_{overload}_{base}"


def _refuse_shapes(tensors: list[tuple[str, torch.Tensor]]) -> None:
    """TensorIterator compares shapes before devices (`aten/src/ATen/ExpandUtils.cpp`, infer_size_impl).

    Not those of results, which it resizes.
    """
    shape: list[int] = []
    for _, tensor in tensors:
        other = list(tensor.shape)
        dimensions = max(len(shape), len(other))
        shape, other = ([1] * (dimensions - len(each)) + each for each in (shape, other))
        for dimension in reversed(range(dimensions)):
            a, b = shape[dimension], other[dimension]
            if a != b and 1 not in (a, b):
                raise RuntimeError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) "
                    f"at non-singleton dimension {dimension}"
                )
            shape[dimension] = b if a == 1 else a


@functools.cache
def _marked() -> dict[str, str]:
    """The operations with `device_check: NoCheck`, and the comment after it."""
    spec = find_spec("torchgen")
    if spec is None or spec.origin is None:
        return {}
    file = Path(spec.origin).parent / "packaged/ATen/native/native_functions.yaml"
    return {
        function[1]: mark[1]
        for function, mark in _entries(file.read_text(encoding="utf-8"))
        if function is not None and mark is not None
    }


def _entries(text: str) -> Iterator[tuple[Any, Any]]:
    for entry in re.split(r"\n(?=- func:)", text):
        yield re.match(r"- func: ([\w.]+)", entry), re.search(r"device_check: NoCheck(.*)", entry)


@functools.cache
def _iterator_operations() -> frozenset[str]:
    return frozenset(name for name, mark in _marked().items() if "TensorIterator" in mark)


@functools.cache
def _unchecked_operations() -> frozenset[str]:
    return frozenset(_marked()) - _iterator_operations()
