# Takes the default device, where one is set, for the current one.
# caught-by: test_the_default_device_has_no_say
import torch


def current_index(kind):
    default = torch.get_default_device()
    return default.index if default.type == kind else torch.accelerator.current_device_index()


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return current_index(a.type) in (a.index, b.index)
