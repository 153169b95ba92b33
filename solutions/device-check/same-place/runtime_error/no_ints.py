# Turns texts into devices, and takes everything else for something that has one.
# caught-by: test_an_int_is_an_index
import torch


def label(place):
    if isinstance(place, str):
        return torch.device(place)
    return place if isinstance(place, torch.device) else place.device


def same_place(a, b):
    a, b = label(a), label(b)
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
