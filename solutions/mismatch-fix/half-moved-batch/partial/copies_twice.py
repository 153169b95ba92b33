# Each use moves its own copy: the images cross a second time, for a shape that was known before.
# caught-by: test_each_batch_crosses_once
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = batch
    assert len(images.to(device)) == len(labels)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    return loss.detach()
