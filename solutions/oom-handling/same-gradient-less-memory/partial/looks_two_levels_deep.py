# Looks at the layers, and at those inside them; there are some inside those.
# caught-by: test_batch_norm_is_refused
import torch
import torch.nn.functional as F


def refuse_batch_norm(model):
    layers = [model, *model.children()]
    for module in layers + [each for layer in model.children() for each in layer.children()]:
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
        loss = F.cross_entropy(model(rows), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total
