# The model runs; the loss is the first operation that meets the labels.
# caught-by: test_it_trains_on_another_device
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = batch
    images = images.to(device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
