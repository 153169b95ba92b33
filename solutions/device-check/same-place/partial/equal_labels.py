# Two torch.device are compared, index and all. Without an index they differ from what a tensor says.
# caught-by: test_the_cpu_is_one_place, test_no_index_is_the_current_one
import torch


def same_place(a, b):
    a, b = (each.device if isinstance(each, torch.Tensor) else torch.device(each) for each in (a, b))
    return a == b
