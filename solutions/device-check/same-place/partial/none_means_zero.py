# Without an index it is the first. So it is, until somebody calls set_device.
# caught-by: test_no_index_is_the_current_one
import torch


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    return (a.index or 0) == (b.index or 0)
