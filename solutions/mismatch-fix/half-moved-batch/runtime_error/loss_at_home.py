# The logits are brought to the labels: a trip to the CPU in each step, and one back for the gradient.
# caught-by: test_it_trains_on_another_device, test_each_batch_crosses_once
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = batch
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images.to(device)).cpu(), labels)
    loss.backward()
    optimizer.step()
    return loss.detach().to(device)
