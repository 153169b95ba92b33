# The move, then the weights, then the optimizer, which puts what it loads beside its parameters.
import copy


def resume(checkpoint, model, make_optimizer, device):
    model.to(device).load_state_dict(checkpoint["model"])
    optimizer = make_optimizer(model)
    optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    return optimizer
