# Reads max_chunk as a number of chunks.
# caught-by: test_chunks_as_allowed, test_memory_does_not_grow
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
    for rows, labels in zip(x.chunk(max_chunk), y.chunk(max_chunk)):
        rows, labels = rows.to(device), labels.to(device)
        loss = F.cross_entropy(model(rows), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
