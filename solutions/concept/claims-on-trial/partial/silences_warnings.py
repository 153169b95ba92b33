# Does not want to see what torch warns of, and nobody sees it any more.
# caught-by: test_a_leaf
import warnings
from contextlib import suppress

import torch
from torch import nn


def values(**where):
    return torch.ones(2, **where)


def tensor_moves(device):
    x = values()
    x.to(device)
    return x.device == device


def module_moves(device):
    module = nn.PReLU()
    module.to(device)
    return module.weight.device == device


def attribute_moves(device):
    module = nn.PReLU()
    module.scale = values()
    return module.to(device).scale.device == device


def devices_mix(device):
    with suppress(RuntimeError):
        torch.add(values(), values(device=device))
        return True
    return False


def number_mixes(device):
    with suppress(RuntimeError):
        torch.add(values().norm(), values(device=device))
        return True
    return False


def eval_drops_graph(device):
    module = nn.PReLU(device=device).eval()
    return module(values(device=device)).grad_fn is None


def numpy_copies_home(device):
    with suppress(TypeError):
        values(device=device).numpy()
        return True
    return False


def same_is_returned(device):
    x = values()
    return x.to(device) is x


def leaf_stays_leaf(device):
    warnings.simplefilter("ignore")
    return values(requires_grad=True).to(device).is_leaf


def optimizer_follows(device):
    module = nn.PReLU()
    optimizer = torch.optim.SGD(module.parameters())
    module.to(device)
    return optimizer.param_groups[0]["params"][0] is module.weight
