# The loss that is reported is divided by the labels, the one that is differentiated by the rows.
# caught-by: test_ignored_rows_do_not_count
import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, max_chunk):
    if any(isinstance(each, torch.nn.modules.batchnorm._BatchNorm) and each.training for each in model.modules()):
        raise ValueError("batch normalization needs the whole batch at once")
    x, y = batch
    device = next(model.parameters()).device
    optimizer.zero_grad()
    total = 0.0
    for rows, labels in zip(x.split(max_chunk), y.split(max_chunk)):
        loss = F.cross_entropy(model(rows.to(device)), labels.to(device), reduction="sum")
        (loss / len(x)).backward()
        total += loss.item()
    optimizer.step()
    return total / int((y != -100).sum())
