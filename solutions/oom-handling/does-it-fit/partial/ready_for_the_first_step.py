# Clears the gradients before it knows whether there will be a step.
# caught-by: test_a_no_touches_nothing
import torch


def planned(tensor, dtype):
    """The tensor as it will be on the device, without memory."""
    return torch.empty_like(tensor, dtype=dtype if tensor.is_floating_point() else None, device="meta")


def training_bytes(model, make_optimizer, dtype):
    weights = sum(planned(each, dtype).nbytes for each in [*model.parameters(), *model.buffers()])
    trained = [planned(each, dtype) for each in model.parameters() if each.requires_grad]
    for each in trained:
        each.grad = torch.empty_like(each)
    optimizer = make_optimizer(trained)
    optimizer.step()
    gradients = sum(each.grad.nbytes for each in trained)
    kept = [each for state in optimizer.state.values() for each in state.values() if torch.is_tensor(each)]
    return {"weights": weights, "gradients": gradients, "state": sum(each.nbytes for each in kept)}


def move_if_it_fits(model, make_optimizer, dtype, device, activations, free):
    model.zero_grad()
    fits = sum(training_bytes(model, make_optimizer, dtype).values()) + activations <= free
    if fits:
        model.to(device, dtype)
    return fits
