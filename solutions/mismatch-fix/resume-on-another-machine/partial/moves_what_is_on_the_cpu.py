# Moves what is on the CPU to the device, as if a checkpoint of the accelerator were only ever opened there.
# caught-by: test_back_to_the_cpu
import copy

import torch


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device) if value.device.type == "cpu" and value.dim() else value
    if isinstance(value, dict):
        return {key: moved(each, device) for key, each in value.items()}
    return [moved(each, device) for each in value] if isinstance(value, list) else value


def resume(checkpoint, model, make_optimizer, device):
    model.load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model.to(device))
    saved = copy.deepcopy(checkpoint["optimizer"])
    for group, settings in zip(optimizer.param_groups, saved["param_groups"], strict=True):
        own = group["params"]
        for parameter, number in zip(own, settings["params"], strict=True):
            if number in saved["state"]:
                optimizer.state[parameter] = moved(saved["state"][number], device)
        group.update(settings, params=own)
    return optimizer
