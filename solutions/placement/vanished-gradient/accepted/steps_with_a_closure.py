# The optimizer calls for the gradient itself: the closure computes it within the step.
import torch.nn.functional as F
from torch import nn


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = nn.Parameter(start.clone().to(images.device))
    optimizer = make_optimizer([delta])

    def closure():
        optimizer.zero_grad()
        loss = -F.cross_entropy(model(images + delta), labels)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return delta.requires_grad_(False)
