# Uses a name that is not there, at import.
import torch

factor = nonsense


def double(x):
    return x * factor
