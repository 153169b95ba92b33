# What is kept for a thousand elements, kept for all of them.
import torch


def tensors_kept(make_optimizer):
    """How many elements the optimizer keeps for each that it trains, seen from one step with a small parameter."""
    small = torch.nn.Parameter(torch.ones(1000))
    small.grad = torch.ones_like(small)
    optimizer = make_optimizer([small])
    optimizer.step()
    return sum(each.nbytes for each in optimizer.state[small].values() if torch.is_tensor(each)) / small.nbytes


def training_bytes(model, make_optimizer, dtype):
    def size(tensors):
        return sum(each.numel() * (dtype if each.is_floating_point() else each.dtype).itemsize for each in tensors)

    gradients = size(each for each in model.parameters() if each.requires_grad)
    return {
        "weights": size(model.parameters()) + size(model.buffers()),
        "gradients": gradients,
        "state": round(tensors_kept(make_optimizer) * gradients),
    }


def move_if_it_fits(model, make_optimizer, dtype, device, activations, free):
    need = training_bytes(model, make_optimizer, dtype)
    if need["weights"] + need["gradients"] + need["state"] + activations > free:
        return False
    model.to(dtype).to(device)
    return True
