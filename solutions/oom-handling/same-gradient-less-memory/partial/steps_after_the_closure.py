# The optimizer is given a closure, with which it steps by itself; the old line that steps is still there.
# caught-by: test_one_step
import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, max_chunk):
    if any(isinstance(each, torch.nn.modules.batchnorm._BatchNorm) and each.training for each in model.modules()):
        raise ValueError("batch normalization needs the whole batch at once")
    x, y = batch
    device = next(model.parameters()).device
    optimizer.zero_grad()
    count, total = int((y != -100).sum()), 0.0

    def closure():
        nonlocal total
        for rows, labels in zip(x.split(max_chunk), y.split(max_chunk)):
            loss = F.cross_entropy(model(rows.to(device)), labels.to(device), reduction="sum") / count
            loss.backward()
            total += loss.item()
        return total

    optimizer.step(closure)
    optimizer.step()
    return total
