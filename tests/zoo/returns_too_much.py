# Returns more bytes than cross.
import torch


def double(x):
    return torch.ones(10 << 20)
