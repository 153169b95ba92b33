# A tensor says where it is, so one is made on each. The devices need not be there.
# caught-by: test_an_index_needs_no_machine
import torch


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    return torch.empty(0, device=a).device == torch.empty(0, device=b).device
