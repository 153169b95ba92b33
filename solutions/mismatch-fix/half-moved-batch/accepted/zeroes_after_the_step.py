# Gradients are cleared after the step that used them, so that each step begins without.
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()
