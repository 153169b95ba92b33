# Makes a copy and trains it for a step: right, and four times the memory.
# caught-by: test_asking_costs_nothing
import copy

import torch


def training_bytes(model, make_optimizer, dtype):
    model = copy.deepcopy(model).to(dtype)
    trained = [each for each in model.parameters() if each.requires_grad]
    for each in trained:
        each.grad = torch.zeros_like(each)
    optimizer = make_optimizer(trained)
    optimizer.step()
    gradients = sum(each.grad.nbytes for each in trained)
    kept = [each for state in optimizer.state.values() for each in state.values() if torch.is_tensor(each)]
    weights = sum(each.nbytes for each in [*model.parameters(), *model.buffers()])
    return {"weights": weights, "gradients": gradients, "state": sum(each.nbytes for each in kept)}


def move_if_it_fits(model, make_optimizer, dtype, device, activations, free):
    fits = sum(training_bytes(model, make_optimizer, dtype).values()) + activations <= free
    if fits:
        model.to(device, dtype)
    return fits
