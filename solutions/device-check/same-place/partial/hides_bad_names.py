# Whatever cannot be compared is a different place. A misspelt name is one for ever.
# caught-by: test_a_wrong_name_is_an_error
import torch


def same_place(a, b):
    try:
        a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    except RuntimeError:
        return False
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
