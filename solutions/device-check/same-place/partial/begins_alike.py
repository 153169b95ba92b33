# A tensor on the CPU beside a text is thought to need no more than the text's beginning. A misspelt name goes by.
# caught-by: test_a_wrong_name_is_an_error
import torch


def same_place(a, b):
    if isinstance(b, torch.Tensor):
        a, b = b, a
    if isinstance(a, torch.Tensor) and a.is_cpu and isinstance(b, str):
        return b.startswith("cpu")
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)
