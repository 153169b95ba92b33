# Whatever is asked for is returned, and CUDA if nothing is: the first tensor will tell.
# caught-by: test_no_accelerator_gives_the_cpu, test_strict_refuses_what_is_not_there
import torch


def pick_device(prefer=None, *, strict=False):
    return torch.device("cuda" if prefer is None else prefer)
