"""Scatter, gather and broadcast within a process, for `torch.nn.parallel`: C in torch (`torch/csrc/cuda/comm.cpp`)."""

from collections.abc import Sequence
from typing import Any

import torch


def functions() -> dict[str, Any]:
    """By their names in `torch._C`."""
    return {
        "_scatter": scatter,
        "_scatter_out": scatter_out,
        "_gather": gather,
        "_gather_out": gather_out,
        "_broadcast": broadcast,
        "_broadcast_out": broadcast_out,
        "_broadcast_coalesced": broadcast_coalesced,
    }


def _cuda(index: int) -> torch.device:
    return torch.device("cuda", index)


def scatter(
    tensor: torch.Tensor, devices: Sequence[int], chunk_sizes: Sequence[int] | None, dim: int, _: object
) -> list[torch.Tensor]:
    chunks = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return [chunk.to(_cuda(index), non_blocking=True) for chunk, index in zip(chunks, devices, strict=False)]


def scatter_out(tensor: torch.Tensor, out: Sequence[torch.Tensor], dim: int, _: object) -> list[torch.Tensor]:
    chunks = tensor.split([each.size(dim) for each in out], dim)
    return [each.copy_(chunk) for each, chunk in zip(out, chunks, strict=True)]


def gather(tensors: Sequence[torch.Tensor], dim: int, destination: int | None) -> torch.Tensor:
    target = torch.device("cpu") if destination == -1 else _cuda(torch.cuda.current_device())
    if destination is not None and destination >= 0:
        target = _cuda(destination)
    return torch.cat([each.to(target) for each in tensors], dim)


def gather_out(tensors: Sequence[torch.Tensor], out: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.cat([each.to(out.device) for each in tensors], dim, out=out)


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    return [tensor.to(_cuda(index), non_blocking=True) for index in devices]


def broadcast_out(tensor: torch.Tensor, out: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [each.copy_(tensor, non_blocking=True) for each in out]


def broadcast_coalesced(tensors: Sequence[torch.Tensor], devices: Sequence[int], _: int) -> list[list[torch.Tensor]]:
    return [[tensor.to(_cuda(index)) for tensor in tensors] for index in devices]
