# Makes torch raise: the line is the candidate's, not torch's.
import torch


def double(x):
    wrong = torch.ones(7)
    return x + wrong
