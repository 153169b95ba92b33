# Returns a tensor without values.
import torch


def double(x):
    return torch.empty_like(x, device="meta")
