"""What CUDA's kernels refuse and the CPU's can do: integers in matrix products, half precision in linear algebra.

Found by running PyTorch's operator database here with every dtype that its entries do not list for CUDA; what is left
out is rare or of no consequence. The words are those of `AT_DISPATCH` (`aten/src/ATen/Dispatch.h`).
"""

import re
from typing import Any

import torch

_NAMES = {
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.bool: "Bool",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
}
_WHOLE_NUMBERS = frozenset((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool))
_BYTES = frozenset((torch.uint8,))

#: By operation: the dtypes that its kernel is not made for, and what the kernel calls itself.
_NOT_MADE_FOR: dict[str, tuple[frozenset[torch.dtype], str]] = {
    **dict.fromkeys(("mm", "addmm", "addmm_", "_addmm_activation", "addbmm"), (_WHOLE_NUMBERS, "addmm_cuda")),
    **dict.fromkeys(("bmm", "baddbmm", "baddbmm_"), (_WHOLE_NUMBERS, "baddbmm_cuda")),
    **dict.fromkeys(("addmv", "addmv_"), (_WHOLE_NUMBERS, "addmv_impl_cuda")),
    "dot": (_WHOLE_NUMBERS, "dot"),
    "vdot": (_WHOLE_NUMBERS, "vdot"),
    "convolution": (_WHOLE_NUMBERS, "slow_conv2d_cuda"),
    "max_pool2d_with_indices": (_WHOLE_NUMBERS, "max_pool2d_with_indices_out_cuda_frame"),
    "max_pool3d_with_indices": (_WHOLE_NUMBERS, "max_pool3d_with_indices_out_frame"),
    "avg_pool2d": (_WHOLE_NUMBERS, "avg_pool2d_out_cuda_frame"),
    "avg_pool3d": (_WHOLE_NUMBERS, "avg_pool3d_out_cuda"),
    **dict.fromkeys(("upsample_bilinear2d", "_upsample_bilinear2d_aa"), (_BYTES, "upsample_bilinear2d_out_frame")),
    **dict.fromkeys(("upsample_bicubic2d", "_upsample_bicubic2d_aa"), (_BYTES, "upsample_bicubic2d_out_frame")),
}
#: These have no CUDA kernel at all.
ABSENT = (
    *("histogram.bins_tensor", "histogram.bin_ct", "histogram.bins_tensor_out", "histogram.bin_ct_out"),
    *("_histogramdd_bin_edges", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"),
)
_NO_LOW_PRECISION = re.compile(
    r"_?linalg_|(cholesky|geqrf|orgqr|ormqr|lu_|triangular_solve|_cdist|_pdist|_ctc_loss|histc|igamma|angle)"
    r"|special_(zeta|ndtri|log_ndtr|erfcx|airy|bessel|chebyshev|hermite|laguerre|legendre|modified|scaled|shifted|sph)"
)


def dtypes(base: str) -> frozenset[torch.dtype] | None:
    """The dtypes of its first tensor that operation `base` refuses; None for nearly all operations."""
    return _NOT_MADE_FOR[base][0] if base in _NOT_MADE_FOR else None


def refuse(base: str, tensors: list[Any]) -> None:
    """NotImplementedError for a call whose first tensor is of such a dtype, unless one of its tensors is empty."""
    if all(each.numel() for each in tensors if each is not None):
        raise NotImplementedError(f"\"{_NOT_MADE_FOR[base][1]}\" not implemented for '{_NAMES[tensors[0].dtype]}'")


def in_low_precision(base: str) -> bool:
    """Whether CUDA, too, lacks half precision for an operation that the CPU lacks it for."""
    return _NO_LOW_PRECISION.match(base) is not None


def absent(name: str) -> Any:
    """A kernel for an operation that has none."""

    def refuse_all(*_: Any, **__: Any) -> None:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CUDA' backend. "
            "This operator has kernels for other backends only: [CPU]."
        )

    return refuse_all
