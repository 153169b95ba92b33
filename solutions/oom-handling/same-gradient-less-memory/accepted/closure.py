# The optimizer calls for its gradient; within that, the chunks.
import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, max_chunk):
    if any("BatchNorm" in type(each).__name__ and each.training for each in model.modules()):
        raise ValueError("batch normalization needs the whole batch at once")
    device = next(model.parameters()).device
    x, y = (each.to(device) for each in batch)
    count = (batch[1] != -100).sum()

    def closure():
        optimizer.zero_grad()
        total = torch.zeros((), dtype=torch.float64)
        for start in range(0, len(x), max_chunk):
            rows = slice(start, start + max_chunk)
            loss = F.cross_entropy(model(x[rows]), y[rows], reduction="sum") / count
            loss.backward()
            total += loss.item()
        return total.item()

    return optimizer.step(closure)
