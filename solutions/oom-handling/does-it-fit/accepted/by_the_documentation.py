# A table of what is kept, by class and options; the optimizer is made and never used.
import torch


def tensors_kept(optimizer):
    """By the documentation of `torch.optim`."""
    options = optimizer.defaults
    if isinstance(optimizer, torch.optim.SGD):
        return options["momentum"] != 0
    if isinstance(optimizer, torch.optim.RMSprop):
        return 1 + (options["momentum"] != 0) + options["centered"]
    return 2 + options["amsgrad"]


def training_bytes(model, make_optimizer, dtype):
    size = torch.finfo(dtype).bits // 8
    trained = [each for each in model.parameters() if each.requires_grad]
    gradients = size * sum(map(torch.numel, trained))
    weights = sum(
        each.numel() * (size if each.is_floating_point() else each.element_size())
        for each in [*model.parameters(), *model.buffers()]
    )
    return {
        "weights": weights,
        "gradients": gradients,
        "state": gradients * tensors_kept(make_optimizer(trained)),
    }


def move_if_it_fits(model, make_optimizer, dtype, device, activations, free):
    for bytes_ in training_bytes(model, make_optimizer, dtype).values():
        free -= bytes_
    if activations > free:
        return False
    model.to(device=device, dtype=dtype)
    return True
