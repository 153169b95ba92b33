# A print in each step: the CPU waits for the number, and nobody has written `.item()`.
# caught-by: test_each_batch_crosses_once
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    images, labels = (each.to(device) for each in batch)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    print("loss", loss.detach())
    loss.backward()
    optimizer.step()
    return loss.detach()
