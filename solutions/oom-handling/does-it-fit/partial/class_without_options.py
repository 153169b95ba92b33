# A table of classes; options are not looked at.
# caught-by: test_the_state_is_that_of_the_optimizer
import torch


def tensors_kept(optimizer):
    """By the documentation of `torch.optim`."""
    if isinstance(optimizer, torch.optim.SGD):
        return 0
    if isinstance(optimizer, torch.optim.RMSprop):
        return 1
    return 2


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
    fits = sum(training_bytes(model, make_optimizer, dtype).values()) + activations <= free
    if fits:
        model.to(device, dtype)
    return fits
