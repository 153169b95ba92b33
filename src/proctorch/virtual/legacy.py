"""`torch.cuda.FloatTensor` and its kin: constructors from before tensors had a dtype and a device.

On a build without CUDA the C types of these names refuse to make anything. These are classes over them.
"""

import warnings
from typing import Any

import torch

_NAMES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


class _LegacyType(type):
    original: Any
    dtype: torch.dtype
    is_cuda = True

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.original)

    def __call__(cls, *data: Any, device: Any = "cuda") -> torch.Tensor:
        """From sizes, a tensor of this type, or a sequence. CUDA's own warn, too (`python_tensor.cpp`)."""
        warnings.warn(
            "The torch.cuda.*DtypeTensor constructors are no longer recommended. It's best to use methods such as "
            "torch.tensor(data, dtype=*, device='cuda') to create tensors.",
            UserWarning,
            stacklevel=2,
        )
        if not data or isinstance(data[0], (int, torch.Size)):
            return torch.empty(*(data or (0,)), dtype=cls.dtype, device=device)
        (values,) = data
        if not isinstance(values, torch.Tensor):
            return torch.tensor(values, dtype=cls.dtype, device=device)
        if isinstance(values, cls.original):
            return torch.Tensor.detach(values)
        raise TypeError(f"expected {cls.__name__} (got {values.type()})")


def types() -> dict[str, type]:
    """By their names in `torch.cuda`; none on a build with CUDA, which has its own."""
    if torch.version.cuda is not None:
        return {}
    # `Tensor.type` knows a class by the name that C sees, with the module in it.
    return {
        name: _LegacyType(f"torch.cuda.{name}", (), {"original": getattr(torch.cuda, name), "dtype": dtype})
        for name, dtype in _NAMES.items()
    }
