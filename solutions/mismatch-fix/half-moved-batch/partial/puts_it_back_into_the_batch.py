# The caller's batch is overwritten: whoever keeps batches, keeps them on the device from now on.
# caught-by: test_the_batch_is_left_alone
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    for at, each in enumerate(batch):
        batch[at] = each.to(device)
    images, labels = batch
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()
