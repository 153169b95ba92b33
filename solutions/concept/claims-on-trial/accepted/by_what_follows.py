# Looks at what follows from each claim, rather than at the thing itself.
import contextlib

import numpy as np
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


class Scaled(nn.Linear):
    def __init__(self, **where):
        super().__init__(2, 2, **where)
        self.scale = self.bias.detach()


def works(call, given):
    with contextlib.suppress(RuntimeError, TypeError):
        call(given)
        return True
    return False


def tensor_moves(device):
    x = Scaled().scale
    return x.to(device) is x


def module_moves(device):
    model = Scaled()
    return model.to(device) is model


def attribute_moves(device):
    model = nn.Sequential(Scaled()).to(device)
    return not model[0].scale.is_cpu


def devices_mix(device):
    return works(Scaled(device=device), Scaled().weight)


def number_mixes(device):
    return works(Scaled(device=device).bias.mul, Scaled().bias.norm())


def eval_drops_graph(device):
    model = nn.Sequential(Scaled(device=device))
    model.eval()
    kept = []
    with saved_tensors_hooks(kept.append, kept.index):
        model(Scaled(device=device).weight)
    return not kept


def numpy_copies_home(device):
    return works(np.asarray, Scaled().scale.to(device))


def same_is_returned(device):
    x = Scaled().scale
    return id(x.to(device)) == id(x)


def leaf_stays_leaf(device):
    return Scaled().bias.to(device=device).grad_fn is None


def optimizer_follows(device):
    model = nn.Sequential(Scaled())
    optimizer = torch.optim.Adam(model.parameters())
    model.to(device)
    held = {id(each) for group in optimizer.param_groups for each in group["params"]}
    return held == {id(each) for each in model.parameters()}
