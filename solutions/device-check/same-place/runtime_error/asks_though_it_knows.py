# Has two indices that differ, and asks for the current one all the same.
# only: cpu
# caught-by: test_an_index_needs_no_machine
import torch


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    current = torch.accelerator.current_device_index()
    first, second = (current if each.index is None else each.index for each in (a, b))
    return first == second
