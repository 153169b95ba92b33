# Goes through lists for their tensors, and drops the numbers that are there.
# caught-by: test_nested_state
import copy

import torch


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device, copy=True)
    if isinstance(value, dict):
        return {key: moved(each, device) for key, each in value.items()}
    if isinstance(value, list):
        return [moved(each, device) for each in value if isinstance(each, (torch.Tensor, dict, list))]
    return value


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    saved = checkpoint["optimizer"]
    groups = copy.deepcopy(saved["param_groups"])
    optimizer.load_state_dict({"state": moved(saved["state"], device), "param_groups": groups})
    return optimizer
