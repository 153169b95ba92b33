# Asks autograd for this one gradient, so that the model's weights get none, and hands it to the optimizer.
import torch
import torch.nn.functional as F
from torch import nn


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = nn.Parameter(torch.empty_like(start, device=images.device))
    with torch.no_grad():
        delta.copy_(start)
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = F.cross_entropy(model(images + delta), labels)
        delta.grad = -torch.autograd.grad(loss, delta)[0]
        optimizer.step()
    return delta.detach()
