# A tensor without elements takes no memory, and always says its index. It is made only where the index is missing.
import torch


def _seen(label):
    """The device as a tensor there tells it."""
    return label if label.index is not None else torch.empty(0, device=label).device


def same_place(a, b):
    first, second = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if first.type != second.type:
        return False
    return first.type in ("cpu", "meta") or _seen(first) == _seen(second)
