# Chunks of nearly one size, so that none is small; their number is rounded down.
# caught-by: test_chunks_as_allowed
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
    number = max(1, len(x) // max_chunk)
    total = 0.0
    optimizer.zero_grad()
    for rows, labels in zip(x.tensor_split(number), y.tensor_split(number)):
        rows, labels = rows.to(device), labels.to(device)
        loss = F.cross_entropy(model(rows), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
