"""Kernels written by hand: those that make memory, and those where CUDA's operation is not the CPU's."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from proctorch.virtual import generators, kernels, memory, state, transfers
from proctorch.virtual.kernels import label
from proctorch.virtual.relabel import CPU_KERNELS, on_device, on_host

_CPU = torch.device("cpu")
_aten: Any = torch.ops.aten


def _on_cpu(function: Any) -> Any:
    return functools.partial(function._handle.redispatch_boxed, CPU_KERNELS)


_empty = _on_cpu(_aten.empty.memory_format)
_empty_strided = _on_cpu(_aten.empty_strided.default)
_as_strided_ = _on_cpu(_aten.as_strided_.default)
_set = _on_cpu(_aten.set_.source_Storage_storage_offset)
_copy = _on_cpu(_aten.copy_.default)
_convolve = kernels.kernel_for("aten::convolution", "")
_call = Callable[..., Any]


# Memory. What does not fit must fail before the host is asked for it.


def empty(
    size: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None, **options: Any
) -> torch.Tensor:
    options.pop("pin_memory", None)
    index = state.index_of(device)
    dtype = dtype or torch.get_default_dtype()
    memory.devices[index].require(math.prod(size) * dtype.itemsize)
    return label(_empty(size, dtype=dtype, layout=layout, device=_CPU, **options), index)


def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any
) -> torch.Tensor:
    index = state.index_of(device)
    dtype = dtype or torch.get_default_dtype()
    elements = 0 if 0 in size else 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    host = _empty_strided(size, stride, dtype=dtype, layout=layout, device=_CPU)
    if elements:
        memory.devices[index].charge(host, elements * dtype.itemsize)
    return on_device(host, index)


def efficient_zeros(size: Sequence[int], **options: Any) -> torch.Tensor:
    """ "Efficient zeros" have no memory, which nothing here could alias; ordinary ones have the same values."""
    return empty(size, **options).zero_()


def resize_(tensor: torch.Tensor, size: Sequence[int], *, memory_format: Any = None) -> torch.Tensor:
    """`resize_`: in place while the storage is big enough, else into new memory that the old elements move to."""
    elements = math.prod(size)
    stride = torch.empty_strided((0,), (1,), device="meta").new_empty(size).stride()
    if memory_format is not None and memory_format is not torch.preserve_format:
        stride = torch.empty(size, device="meta", memory_format=memory_format).stride()
    if tensor.untyped_storage().nbytes() >= (elements + tensor.storage_offset()) * tensor.element_size():
        _as_strided_(tensor, size, stride)
        return tensor
    larger = empty([elements], dtype=tensor.dtype, device=tensor.device)
    kept = min(elements, tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset())
    if kept > 0:
        host = on_host(tensor)
        _copy(on_host(larger)[:kept], host.as_strided([kept], [1]))
    _set(tensor, larger.untyped_storage(), 0, list(size), list(stride))
    return tensor


def set_(tensor: torch.Tensor, source: Any = None, *place: Any) -> torch.Tensor:
    """All forms of `set_`: they change what a tensor refers to, and leave memory alone."""
    if source is None:
        source = empty([0], dtype=tensor.dtype, device=tensor.device)
    if isinstance(source, torch.Tensor):
        place = place or (source.storage_offset(), list(source.shape), list(source.stride()))
        source = source.untyped_storage()
    if not place:
        elements = source.nbytes() // tensor.element_size()
        place = (0, [elements], [1])
    elif len(place) == 2:
        place = (*place, list(torch.empty(place[1], device="meta").stride()))
    _set(tensor, source, *place)
    return tensor


# Operations that CUDA checks, chooses or computes in a way of its own.


def convolution(tensor: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *rest: Any) -> Any:
    """`aten/src/ATen/native/Convolution.cpp` compares types before anything else, and devices are part of a type."""
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and (tensor.get_device() != other.get_device() or tensor.dtype != other.dtype):
            raise RuntimeError(f"Input type ({tensor.type()}) and {name} type ({other.type()}) should be the same")
    return _convolve(tensor, weight, bias, *rest)


def native_dropout(tensor: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """CUDA has one kernel where the CPU composes (`aten/src/ATen/native/cuda/Dropout.cu`); the mask is boolean."""
    if not tensor.is_floating_point():
        raise NotImplementedError(f"\"fused_dropout\" not implemented for '{tensor.type().rpartition('.')[2][:-6]}'")
    index = tensor.get_device()
    host = on_host(tensor)
    if train is False or p == 0:
        return label(host.clone(), index), label(host.new_ones(host.shape, dtype=torch.bool), index)
    mask = host.new_empty(host.shape, dtype=torch.bool).bernoulli_(1 - p, generator=generators.worker(None, index))
    kept = (host * mask * (1 / (1 - p) if p < 1 else 0.0)).to(host.dtype)
    return label(kept, index), label(mask, index)


def _answer(value: object) -> _call:
    return lambda *_, **__: value


def rms_norm_backward(
    grad_out: torch.Tensor,
    tensor: torch.Tensor,
    normalized_shape: Sequence[int],
    rstd: torch.Tensor,
    weight: torch.Tensor | None,
    output_mask: Sequence[bool],
) -> Any:
    """CUDA has a kernel of its own for this (`aten/src/ATen/native/cuda/layer_norm_kernel.cu`), the CPU composes it."""
    grad, scale = on_host(grad_out), on_host(rstd)
    normal = on_host(tensor) * scale
    inner = list(range(tensor.dim() - len(normalized_shape), tensor.dim()))
    outer = list(range(tensor.dim() - len(normalized_shape)))
    weighted = grad if weight is None else grad * on_host(weight)
    grad_input = (weighted - normal * (weighted * normal).mean(inner, keepdim=True)) * scale if output_mask[0] else None
    grad_weight = None
    if weight is not None and output_mask[1]:
        grad_weight = (grad * normal).sum(outer) if outer else grad * normal
        grad_weight = grad_weight.to(weight.dtype)
    if grad_input is not None:
        grad_input = grad_input.to(tensor.dtype)
    return _labelled((grad_input, grad_weight), tensor.get_device())


# Recurrent cells. Without cuDNN, CUDA has these four (`aten/src/ATen/native/cuda/RNN.cu`), and the CPU has none of
# them.


def _optional(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else on_host(tensor)


def _labelled(tensors: Sequence[torch.Tensor | None], index: int) -> tuple[torch.Tensor | None, ...]:
    return tuple(None if tensor is None else label(tensor.contiguous(), index) for tensor in tensors)


def _biased(gates: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return on_host(gates) if bias is None else on_host(gates) + on_host(bias)


def lstm_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    cx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> Any:
    gates = _biased(input_gates, input_bias) + _biased(hidden_gates, hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * on_host(cx) + i * g
    return _labelled((o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)), cx.get_device())


def lstm_cell_backward(
    grad_hy: torch.Tensor | None,
    grad_cy: torch.Tensor | None,
    cx: torch.Tensor,
    cy: torch.Tensor,
    workspace: torch.Tensor,
    has_bias: bool,
) -> Any:
    if grad_hy is None and grad_cy is None:
        return None, None, None
    c, tanh = on_host(cx), on_host(cy).tanh()
    i, f, g, o = on_host(workspace).chunk(4, 1)
    grad = torch.zeros_like(c) if grad_hy is None else on_host(grad_hy)
    through = grad * o * (1 - tanh * tanh)
    if grad_cy is not None:
        through = through + on_host(grad_cy)
    gates = torch.cat(
        [through * g * i * (1 - i), through * c * f * (1 - f), through * i * (1 - g * g), grad * tanh * o * (1 - o)], 1
    )
    return _labelled((gates, through * f, gates.sum(0) if has_bias else None), cx.get_device())


def gru_cell(
    input_gates: torch.Tensor,
    hidden_gates: torch.Tensor,
    hx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> Any:
    x = on_host(hx)
    ir, iz, inew = _biased(input_gates, input_bias).chunk(3, 1)
    hr, hz, hnew = _biased(hidden_gates, hidden_bias).chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    new = (inew + r * hnew).tanh()
    return _labelled(((x - new) * z + new, torch.cat([r, z, new, x, hnew], 1)), hx.get_device())


def gru_cell_backward(grad_hy: torch.Tensor, workspace: torch.Tensor, has_bias: bool) -> Any:
    grad = on_host(grad_hy)
    r, z, new, x, hnew = on_host(workspace).chunk(5, 1)
    through_new = grad * (1 - z) * (1 - new * new)
    through_r = through_new * hnew * r * (1 - r)
    through_z = grad * (x - new) * z * (1 - z)
    input_gates = torch.cat([through_r, through_z, through_new], 1)
    hidden_gates = torch.cat([through_r, through_z, through_new * r], 1)
    biases = (input_gates.sum(0), hidden_gates.sum(0)) if has_bias else (None, None)
    return _labelled((input_gates, hidden_gates, grad * z, *biases), grad_hy.get_device())


#: By name and overload, as in `native_functions.yaml`.
KERNELS: dict[str, _call] = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "resize_": resize_,
    "_efficientzerotensor": efficient_zeros,
    "set_": set_,
    "set_.source_Storage": set_,
    "set_.source_Storage_storage_offset": set_,
    "set_.source_Tensor": set_,
    "copy_": transfers.copy_,
    "_local_scalar_dense": transfers.read_value,
    "convolution": convolution,
    "convolution_backward": kernels.kernel_for("aten::convolution_backward", ""),
    "native_dropout": native_dropout,
    "_fused_rms_norm_backward": rms_norm_backward,
    "record_stream": _answer(None),
    "_fused_sdp_choice": _answer(0),  # SDPBackend::math: the others are kernels for real devices
    # The encoder of `nn.TransformerEncoder` would go on with nested tensors, which are not simulated.
    "_nested_tensor_from_mask_left_aligned": _answer(value=False),
    "_use_cudnn_ctc_loss": _answer(value=False),
    "_use_cudnn_ctc_loss.Tensor": _answer(value=False),
    "_use_miopen_ctc_loss": _answer(value=False),
    "_use_miopen_ctc_loss.Tensor": _answer(value=False),
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
}
