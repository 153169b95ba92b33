# Multiplies the old gradients by zero: those that were nan stay nan.
# caught-by: test_one_step
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
    for each in model.parameters():
        if each.grad is not None:
            each.grad.mul_(0)
    for rows, labels in zip(x.split(max_chunk), y.split(max_chunk)):
        rows, labels = rows.to(device), labels.to(device)
        loss = F.cross_entropy(model(rows), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
