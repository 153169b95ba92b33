# Fills the optimizer by hand, parameter by parameter, with a copy of the state that is as deep as the state.
import torch


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device, copy=True)
    if isinstance(value, dict):
        return {key: moved(each, device) for key, each in value.items()}
    return [moved(each, device) for each in value] if isinstance(value, list) else value


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    saved = checkpoint["optimizer"]
    for group, settings in zip(optimizer.param_groups, saved["param_groups"]):
        own = group["params"]
        for parameter, number in zip(own, settings["params"]):
            if number in saved["state"]:
                optimizer.state[parameter] = moved(saved["state"][number], device)
        group.update(settings, params=own)
    return optimizer
