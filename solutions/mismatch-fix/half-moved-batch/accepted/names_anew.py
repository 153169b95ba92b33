# The moved tensors get the names of those that they replace.
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = batch
    images, labels = images.to(device), labels.to(device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
