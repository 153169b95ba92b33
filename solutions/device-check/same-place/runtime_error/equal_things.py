# Asks the things themselves first. Two tensors are compared value by value, and that is neither true nor false.
# caught-by: test_tensors_are_where_they_are
import torch


def same_place(a, b):
    if a == b:
        return True
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
