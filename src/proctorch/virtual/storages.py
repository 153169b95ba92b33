"""Untyped storages of the device: saving, loading and `copy.deepcopy` work on these, below tensors.

The C methods of `torch.UntypedStorage` need a CUDA allocator to make a storage on the device. These go through tensors.
"""

from collections.abc import Callable
from typing import Any

import torch

_Storage = torch.UntypedStorage


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)  # type: ignore[call-overload, no-any-return]  # missing in torch's stubs


def _copied_to(storage: torch.UntypedStorage, device: torch.device, *, non_blocking: bool = False) -> torch.UntypedStorage:
    with torch._C._DisableFuncTorch(), torch.no_grad(), torch._C.DisableTorchFunction():
        copy = torch.empty(storage.nbytes(), dtype=torch.uint8, device=device)
        if storage.nbytes():
            copy.copy_(_bytes_of(storage), non_blocking=non_blocking)
        return copy.untyped_storage()


def replacements() -> dict[str, Callable[..., Any]]:
    """Methods for `torch.UntypedStorage`, by name. Storages that are not on the device take the original path."""
    clone, to_cpu, to, copy_ = _Storage.clone, _Storage.cpu, _Storage.to, _Storage.copy_

    def cloned(self: torch.UntypedStorage) -> Any:
        return _copied_to(self, self.device) if self.is_cuda else clone(self)

    def on_cpu(self: torch.UntypedStorage) -> Any:
        return _copied_to(self, torch.device("cpu")) if self.is_cuda else to_cpu(self)

    def on_cuda(self: torch.UntypedStorage, device: Any = None, non_blocking: bool = False) -> Any:
        return moved(self, device=torch.device("cuda", torch.cuda._utils._get_device_index(device, optional=True)))

    def moved(self: torch.UntypedStorage, *, device: Any, non_blocking: bool = False) -> Any:
        target = torch.device(device)
        if target.type == "cuda":
            target = torch.device("cuda", torch.cuda._utils._get_device_index(target, optional=True))
            return self if self.device == target else _copied_to(self, target, non_blocking=non_blocking)
        return on_cpu(self) if target.type == "cpu" else to(self, device=device, non_blocking=non_blocking)

    def filled_from(self: torch.UntypedStorage, source: Any, non_blocking: bool | None = None) -> Any:
        if not (self.is_cuda or source.is_cuda):
            return copy_(self, source, non_blocking)
        with torch.no_grad():
            _bytes_of(self).copy_(_bytes_of(source), non_blocking=bool(non_blocking))
        return self

    return {"clone": cloned, "cpu": on_cpu, "cuda": on_cuda, "to": moved, "copy_": filled_from}
