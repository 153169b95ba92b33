# Does not think of tensors, which torch.device does not take.
# caught-by: test_tensors_are_where_they_are
import torch


def same_place(a, b):
    a, b = torch.device(a), torch.device(b)
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
