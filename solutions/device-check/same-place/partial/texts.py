# Compares how they are written, and knows the one pair that it met.
# caught-by: test_no_index_is_the_current_one, test_an_int_is_an_index
import torch


def same_place(a, b):
    a, b = (str(each.device if isinstance(each, torch.Tensor) else torch.device(each)) for each in (a, b))
    if a.startswith(("cpu", "meta")):
        return a.split(":")[0] == b.split(":")[0]
    return a == b
