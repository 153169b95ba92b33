# A tensor is on CUDA or on the CPU. That others exist, meta for one, is forgotten.
# caught-by: test_tensors_are_where_they_are
import torch


def label(place):
    if not isinstance(place, torch.Tensor):
        return torch.device(place)
    return torch.device("cuda", place.get_device()) if place.is_cuda else torch.device("cpu")


def same_place(a, b):
    a, b = label(a), label(b)
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
