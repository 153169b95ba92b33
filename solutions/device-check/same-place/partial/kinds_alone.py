# Right on every machine with one GPU.
# caught-by: test_an_index_needs_no_machine, test_no_index_is_the_current_one
import torch


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    return a.type == b.type
