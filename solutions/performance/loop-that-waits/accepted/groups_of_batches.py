# Ten batches at a time: the inner loop has no numbers at all, the outer one reads once.
from itertools import count, islice

import torch
import torch.nn.functional as F


def steps(model, batches, optimizer, device):
    for x, y in batches:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.detach(), (logits.argmax(1) == y).float().mean()


def train(model, loader, optimizer, device, log):
    batches, numbers = iter(loader), count()
    while group := [*steps(model, islice(batches, 10), optimizer, device)]:
        losses, accuracies = (torch.stack(each) for each in zip(*group))
        rows = torch.cat([losses, accuracies]).cpu().view(2, -1)
        finite = rows[0].isfinite().tolist()
        for fine, loss, accuracy in zip(finite, *rows.tolist()):
            log(next(numbers), loss, accuracy)
            if not fine:
                return
