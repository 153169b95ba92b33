# Kinds first: then an index that is missing is one of a kind that is there.
import torch


def _device(place):
    return place.device if isinstance(place, torch.Tensor) else torch.device(place)


def same_place(a, b):
    a, b = _device(a), _device(b)
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
