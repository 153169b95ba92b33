# Loads first, and then gives the optimizer tensors of its own on the device, with torch's own walk through containers.
from torch.utils._pytree import tree_map_only

import torch


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(checkpoint["optimizer"])
    for parameter, state in optimizer.state.items():
        optimizer.state[parameter] = tree_map_only(torch.Tensor, torch.clone, state)
    return optimizer
