# A list of detached pairs; those of ten steps come in one trip.
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
        row = torch.stack([loss.detach(), (logits.argmax(1) == y).float().mean()])
        waiting.append(row)
        if len(waiting) == 10:
            if tell(log, logged, waiting):
                return
            logged += len(waiting)
            waiting = []
    if waiting:
        tell(log, logged, waiting)


def tell(log, first, waiting):
    """Logs the steps that have waited; True if one of them has a loss that is not finite."""
    for step, (loss, accuracy) in enumerate(torch.stack(waiting).tolist(), first):
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            return True
