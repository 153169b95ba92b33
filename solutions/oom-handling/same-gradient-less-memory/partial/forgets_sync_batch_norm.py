# Thinks of three kinds of batch normalization, and not of the one for several processes.
# caught-by: test_batch_norm_is_refused
import torch
import torch.nn.functional as F


BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)


def refuse_batch_norm(model):
    for module in model.modules():
        if isinstance(module, BATCH_NORMS) and module.training:
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
        loss = F.cross_entropy(model(rows), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
