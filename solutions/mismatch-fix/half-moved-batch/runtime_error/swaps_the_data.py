# Swaps the data under the caller's tensors: where it works, the batch is on the device for good; some devices refuse it.
# caught-by: test_the_batch_is_left_alone
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    for each in batch:
        each.data = each.data.to(device)
    images, labels = batch
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
