# The optimizer first, and its state after the model. To CUDA this works; where a move makes new parameters it trains none.
# caught-by: test_the_models_own_parameters
import copy

import torch


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: moved(each, device) for key, each in value.items()}
    return [moved(each, device) for each in value] if isinstance(value, list) else value


def resume(checkpoint, model, make_optimizer, device):
    optimizer = make_optimizer(model)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    model.to(device)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            optimizer.state[parameter] = moved(optimizer.state[parameter], device)
    return optimizer
