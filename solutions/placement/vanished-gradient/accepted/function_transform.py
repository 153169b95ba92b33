# The gradient as a function of the perturbation; the tensor that the optimizer steps needs no graph at all.
import torch
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    gradient = torch.func.grad(lambda delta: -F.cross_entropy(model(images + delta), labels))
    delta = start.to(images.device, copy=True)
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        delta.grad = gradient(delta)
        optimizer.step()
    return delta
