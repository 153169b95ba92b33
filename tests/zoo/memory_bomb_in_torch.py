# Asks torch for all memory at once.
import torch


def double(x):
    return torch.ones(1 << 40)
