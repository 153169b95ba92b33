# The loss is returned with its graph: a caller that keeps losses keeps graphs.
# caught-by: test_it_trains, test_it_trains_on_another_device
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss
