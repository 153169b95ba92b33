# Knows Adam, and takes it for all.
# caught-by: test_the_state_is_that_of_the_optimizer
import torch


def training_bytes(model, make_optimizer, dtype):
    size = dtype.itemsize
    weights = sum(each.numel() * (size if each.is_floating_point() else each.element_size()) for each in tensors(model))
    trained = sum(each.numel() * size for each in model.parameters() if each.requires_grad)
    return {"weights": weights, "gradients": trained, "state": 2 * trained}


def tensors(model):
    return [*model.parameters(), *model.buffers()]


def move_if_it_fits(model, make_optimizer, dtype, device, activations, free):
    fits = sum(training_bytes(model, make_optimizer, dtype).values()) + activations <= free
    if fits:
        model.to(device, dtype)
    return fits
