# A trip in every eighth step: in a short training that is within the limit.
# caught-by: test_trips_are_few
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
        waiting.append(torch.stack([loss.detach(), (logits.argmax(1) == y).float().mean()]))
        if len(waiting) == 8:
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
