# Changes every global state of torch that it knows, and is right.
import torch


def double(x):
    result = x * 2
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(2)
    return result
