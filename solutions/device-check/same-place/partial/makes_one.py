# Looks where a tensor of one element lands. It takes memory, and a look at a tensor that is there would do.
# caught-by: test_nothing_is_made_or_moved
import torch


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.ones(1, device=a.type).device.index in (a.index, b.index)
