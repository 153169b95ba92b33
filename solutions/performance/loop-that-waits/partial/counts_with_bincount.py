# Counts wrong and right classes; how long the table is depends on the largest number in it.
# caught-by: test_nothing_else_waits
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    waiting, logged = [], 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits = torch.bincount((logits.argmax(1) == y).long(), minlength=2)[1]
        waiting.append(torch.stack([loss.detach(), hits / len(y)]))
        if len(waiting) == 10:
            if not tell(log, logged, waiting):
                return
            logged += len(waiting)
            waiting = []
    if waiting:
        tell(log, logged, waiting)


def tell(log, first, waiting):
    for step, (loss, accuracy) in enumerate(torch.stack(waiting).tolist(), first):
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            return False
    return True
