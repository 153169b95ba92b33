# Returns a tensor without elements that has a million million rows.
import torch


def double(x):
    return torch.empty(1 << 40, 0)
