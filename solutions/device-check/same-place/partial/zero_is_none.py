# Writes the index of an int behind the kind, if there is one, and 0 is false: it becomes the current device.
# caught-by: test_no_index_is_the_current_one
import torch


def label(place):
    if isinstance(place, torch.Tensor):
        return place.device
    if isinstance(place, int):
        kind = torch.accelerator.current_accelerator().type
        return torch.device(f"{kind}:{place}" if place else kind)
    return torch.device(place)


def same_place(a, b):
    a, b = label(a), label(b)
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
