# Copies tensors and dicts, and only moves what is in lists: on its own device that is the checkpoint's.
# caught-by: test_the_checkpoint_stays
import torch


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device, copy=True)
    if isinstance(value, dict):
        return {key: moved(each, device) for key, each in value.items()}
    if isinstance(value, list):
        return [each.to(device) if isinstance(each, torch.Tensor) else each for each in value]
    return value


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(moved(checkpoint["optimizer"], device))
    return optimizer
