# The kind of the device alone: with two of a kind, the batch goes to the one that is current.
# caught-by: test_it_trains_on_the_device_that_is_given
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device.type) for each in batch)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
