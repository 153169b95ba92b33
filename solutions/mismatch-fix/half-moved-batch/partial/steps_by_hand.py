# Does what plain gradient descent does, and does not ask the optimizer, which may be another one tomorrow.
# caught-by: test_it_trains
import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    with torch.no_grad():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad
    return loss.detach()
