"""A simulated CUDA device for machines without one: values are real, the device's rules and its memory are simulated.

    from proctorch import virtual

    with virtual.cuda(memory="256MiB"):
        x = torch.ones(3, device="cuda")  # a plain torch.Tensor on cuda:0
        x + torch.ones(3)                 # RuntimeError: Expected all tensors to be on the same device …

It needs torch alone. docs/virtual.md says what is simulated and what is not.

Importing this does not import torch: its names are loaded when first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctorch.virtual.api import (
        Copy,
        MemoryStats,
        Moment,
        Unsupported,
        clear_copies,
        copies,
        cuda,
        delay_downloads,
        disable,
        enable,
        has_real_device,
        is_enabled,
        memory_stats,
        occupy,
        record_timeline,
        register,
        timeline,
        unsupported,
    )

__all__ = [
    "Copy",
    "MemoryStats",
    "Moment",
    "Unsupported",
    "clear_copies",
    "copies",
    "cuda",
    "delay_downloads",
    "disable",
    "enable",
    "has_real_device",
    "is_enabled",
    "memory_stats",
    "occupy",
    "record_timeline",
    "register",
    "timeline",
    "unsupported",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from proctorch.virtual import api  # noqa: PLC0415 - with torch

        value = getattr(api, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
