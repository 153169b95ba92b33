# A second forward pass for the loss that is returned: it has no graph, and costs as much as the first.
# caught-by: test_it_trains
import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    with torch.no_grad():
        before = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()
    return before
