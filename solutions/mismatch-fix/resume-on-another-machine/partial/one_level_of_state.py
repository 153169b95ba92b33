# Moves the tensors that are directly in a parameter's state, as many answers on the web do.
# caught-by: test_nested_state
import copy

import torch


def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model.to(device))
    saved = copy.deepcopy(checkpoint["optimizer"])
    for group, settings in zip(optimizer.param_groups, saved["param_groups"], strict=True):
        own = group["params"]
        for parameter, number in zip(own, settings["params"], strict=True):
            for key, value in saved["state"].get(number, {}).items():
                is_moved = torch.is_tensor(value) and value.dim()
                optimizer.state[parameter][key] = value.to(device) if is_moved else value
        group.update(settings, params=own)
    return optimizer
