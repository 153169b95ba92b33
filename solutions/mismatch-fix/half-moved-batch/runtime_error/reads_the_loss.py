# `.item()` for the log: every step waits until the device is done.
# caught-by: test_it_trains_on_another_device, test_it_trains
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()
