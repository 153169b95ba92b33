# An int is compared with the other one's index. Of which kind the other one is, nobody asks.
# caught-by: test_an_int_is_an_index
import torch


def index(place):
    if isinstance(place, int):
        return place
    device = place.device if isinstance(place, torch.Tensor) else torch.device(place)
    return torch.accelerator.current_device_index() if device.index is None else device.index


def same_place(a, b):
    if isinstance(a, int) or isinstance(b, int):
        return index(a) == index(b)
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
