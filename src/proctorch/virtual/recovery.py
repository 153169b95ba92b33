"""When the CPU kernel cannot do what CUDA's can: half precision without a kernel, results that must be resized."""

import warnings
from typing import Any

import torch

from proctorch.virtual import refusals
from proctorch.virtual.relabel import CPU_KERNELS

_SINGLE = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
_NO_LOW_PRECISION = (
    *("not implemented for 'Half'", "not implemented for 'BFloat16'", "with half to float"),
    *("doesn't support tensors of type: Half", "doesn't support tensors of type: ComplexHalf"),
)
#: Of a half-precision input and a float32 result, which CUDA's softmax makes of it in one step.
_SOFTMAX_GRADIENTS = ("_softmax_backward_data", "_log_softmax_backward_data")
_empty: Any = torch.ops.aten.empty.memory_format._handle.redispatch_boxed


def run_again(
    operation: Any, error: RuntimeError, host: list[Any], kwargs: dict[str, Any], fresh: dict[str, torch.Tensor]
) -> Any:
    """The result in another way, or the error raised again.

    Results (`out=`) that must grow are put into `fresh` instead; the caller moves them over the originals.
    """
    text = str(error)
    if any(each in text for each in _NO_LOW_PRECISION):
        if refusals.in_low_precision(operation.base):
            raise NotImplementedError(text.replace("_cpu", "_cuda")) from None
        return _in_single_precision(operation, host, kwargs)
    if operation.base in _SOFTMAX_GRADIENTS and host[0].dtype is torch.float32 != host[-1]:
        *given, low = host
        return operation.call(CPU_KERNELS, *given, torch.float32).to(low)
    if "not resizable" in text and operation.outs and not fresh:
        for name in operation.outs:
            if isinstance(kwargs.get(name), torch.Tensor):
                fresh[name] = empty_like_result(kwargs[name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a result is resized has been said in the first attempt
            return operation.call(CPU_KERNELS, *host, **{**kwargs, **fresh})
    if "can't allocate memory" in text:
        raise torch.OutOfMemoryError(
            "CUDA out of memory. (The host of the virtual device has no memory left.)"
        ) from None
    raise error


def empty_like_result(result: torch.Tensor) -> torch.Tensor:
    """A result without elements, which a CPU kernel may resize; memory that came through DLPack it may not."""
    return _empty(CPU_KERNELS, [0], dtype=result.dtype, device=torch.device("cpu"))  # type: ignore[no-any-return]


def _in_single_precision(operation: Any, host: list[Any], kwargs: dict[str, Any]) -> Any:
    given = [*host, *kwargs.values()]
    low = next(each.dtype for each in given if isinstance(each, torch.Tensor) and each.dtype in _SINGLE)
    keeps_single = "softmax" in operation.base and True in [each for each in given if isinstance(each, bool)]
    raised = [False if each is True and keeps_single else _raised(each) for each in host]
    raised_kwargs = {name: _raised(value) for name, value in kwargs.items()}
    result = operation.call(CPU_KERNELS, *raised, **raised_kwargs)
    for position, name in enumerate(operation.arguments):
        if name in operation.written:
            original, computed = (
                (host[position], raised[position]) if position < len(host) else (kwargs[name], raised_kwargs[name])
            )
            if original is not computed:
                original.copy_(computed)
    if operation.outs or keeps_single:
        return result
    return tuple(_lowered(each, low) for each in result) if isinstance(result, tuple) else _lowered(result, low)


def _raised(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(_SINGLE[value.dtype]) if value.dtype in _SINGLE else value
    return [_raised(each) for each in value] if isinstance(value, list) else value


def _lowered(value: Any, dtype: torch.dtype) -> Any:
    if not isinstance(value, torch.Tensor) or value.dtype not in _SINGLE.values():
        return value
    real = dtype if dtype.is_floating_point else torch.float16
    return value.to(torch.complex32 if value.is_complex() else real)
