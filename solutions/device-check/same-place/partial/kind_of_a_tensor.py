# Of a tensor's device it takes the kind. With one GPU nobody sees it, and with two the tensor is where the current one is.
# caught-by: test_no_index_is_the_current_one
import torch


def same_place(a, b):
    a, b = (torch.device(each.device.type if isinstance(each, torch.Tensor) else each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
