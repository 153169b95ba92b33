# Knows that there is one CPU. Of meta it takes no index for index 0, and lets the others differ.
# caught-by: test_the_cpu_is_one_place
import torch


def index(device):
    if device.index is None:
        return 0 if device.type == "meta" else torch.accelerator.current_device_index()
    return device.index


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type == "cpu":
        return a.type == b.type
    if None not in (a.index, b.index):
        return a.index == b.index
    return index(a) == index(b)
