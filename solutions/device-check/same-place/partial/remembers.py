# It is asked often, so answers are kept. The current device is not among the arguments.
# caught-by: test_no_index_is_the_current_one
import functools

import torch


@functools.lru_cache
def compare(a, b):
    if a.type != b.type or a.type in ("cpu", "meta"):
        return a.type == b.type
    if a.index == b.index:
        return True
    if None not in (a.index, b.index):
        return False
    return torch.accelerator.current_device_index() in (a.index, b.index)


def same_place(a, b):
    return compare(*(each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b)))
