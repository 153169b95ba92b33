# Believes that the moments are always in float32, as they are with autocast.
# caught-by: test_all_is_in_the_dtype
import torch


def tensors_kept(make_optimizer):
    """How many elements the optimizer keeps for each that it trains, seen from one step with a small parameter."""
    small = torch.nn.Parameter(torch.ones(1000))
    small.grad = torch.ones_like(small)
    optimizer = make_optimizer([small])
    optimizer.step()
    return sum(each.nbytes for each in optimizer.state[small].values() if torch.is_tensor(each)) / small.nbytes


def training_bytes(model, make_optimizer, dtype):
    weights = trained = 0
    for each in [*model.parameters(), *model.buffers()]:
        size = each.numel() * (dtype if each.is_floating_point() else each.dtype).itemsize
        weights += size
        trained += size * each.requires_grad
    state = round(tensors_kept(make_optimizer) * trained / dtype.itemsize * 4)
    return {"weights": weights, "gradients": trained, "state": state}


def move_if_it_fits(model, make_optimizer, dtype, device, activations, free):
    fits = sum(training_bytes(model, make_optimizer, dtype).values()) + activations <= free
    if fits:
        model.to(device, dtype)
    return fits
