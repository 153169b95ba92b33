# To the device, then a copy of its own: one of the two copies is idle, and each device gets the same code.
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device).clone().requires_grad_()
    optimizer = make_optimizer([{"params": [delta]}])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
