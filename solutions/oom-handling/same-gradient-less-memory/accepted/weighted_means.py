# Means, each weighted by its share of the labels; a chunk without a label has no mean and is left out.
import torch
import torch.nn.functional as F


BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d, torch.nn.SyncBatchNorm)


def train_step(model, batch, optimizer, max_chunk):
    if any(isinstance(each, BATCH_NORMS) and each.training for each in model.modules()):
        raise ValueError("batch normalization needs the whole batch at once")
    x, y = batch
    device = next(model.parameters()).device
    labelled = y.ne(-100)
    total = 0.0
    optimizer.zero_grad()
    for rows in torch.arange(len(x)).split(max_chunk):
        share = float(labelled[rows].sum(dtype=torch.float64) / labelled.sum())
        if share:
            loss = share * F.cross_entropy(model(x[rows].to(device)), y[rows].to(device))
            loss.backward()
            total += float(loss)
    optimizer.step()
    return total
