# Keeps the logits of all chunks, so that the loss can be computed at once in the end.
# caught-by: test_memory_does_not_grow
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
    kept = []
    optimizer.zero_grad()
    for rows, labels in zip(x.split(max_chunk), y.split(max_chunk)):
        rows, labels = rows.to(device), labels.to(device)
        logits = model(rows)
        loss = F.cross_entropy(logits, labels, reduction="sum") / count
        loss.backward()
        kept.append(logits.detach())
    optimizer.step()
    return F.cross_entropy(torch.cat(kept), y.to(device)).item()
