# The loop variable gets the moved tensor, and loses it at the next turn.
# caught-by: test_it_trains, test_the_whole_step_is_on_the_device
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
