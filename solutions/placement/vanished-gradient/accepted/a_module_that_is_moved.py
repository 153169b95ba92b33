# The perturbation as a layer in front of the model: a module is moved first, and then the optimizer is made.
import torch.nn.functional as F
from torch import nn


class Perturb(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.delta = nn.Parameter(start.clone())

    def forward(self, images):
        return images + self.delta


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    perturb = Perturb(start).to(images.device)
    optimizer = make_optimizer(perturb.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(perturb(images)), labels).neg().backward()
        optimizer.step()
    return perturb.delta.data
