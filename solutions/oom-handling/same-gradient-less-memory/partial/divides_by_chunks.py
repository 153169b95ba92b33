# The mean of means: the rows of the small last chunk count twice as much.
# caught-by: test_the_gradient_is_that_of_the_batch
import torch
import torch.nn.functional as F


def refuse_batch_norm(model):
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.training:
            raise ValueError("batch normalization needs the whole batch at once")


def train_step(model, batch, optimizer, max_chunk):
    refuse_batch_norm(model)
    x, y = batch
    device = next(model.parameters()).device
    count = int((y != -100).sum())
    total = 0.0
    optimizer.zero_grad()
    for rows, labels in zip(x.split(max_chunk), y.split(max_chunk)):
        rows, labels = rows.to(device), labels.to(device)
        loss = F.cross_entropy(model(rows), labels) / len(x.split(max_chunk))
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
