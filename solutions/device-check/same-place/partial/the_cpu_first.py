# Where one of them is the CPU by name, the other is not read: whatever it says, it is said to be another place.
# caught-by: test_a_wrong_name_is_an_error
import torch


def same_place(a, b):
    if isinstance(a, str) and isinstance(b, str) and "cpu" in (a, b):
        return a.split(":")[0] == b.split(":")[0]
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
