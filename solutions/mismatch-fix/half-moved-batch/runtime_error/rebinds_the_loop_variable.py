# The loop variable gets the moved tensor, and loses it at the next turn.
# caught-by: test_it_trains, test_each_batch_crosses_once
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    for each in batch:
        each = each.to(device)
    images, labels = batch
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
