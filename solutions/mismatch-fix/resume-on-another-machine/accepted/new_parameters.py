# Gives the model new parameters on the device, and makes the optimizer when they are there.
import copy


def resume(checkpoint, model, make_optimizer, device):
    weights = {name: value.to(device, copy=True) for name, value in checkpoint["model"].items()}
    model.load_state_dict(weights, assign=True)
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    return optimizer
