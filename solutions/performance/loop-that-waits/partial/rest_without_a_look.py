# The rows that are left over are logged by a loop of their own, which looks at no loss.
# caught-by: test_it_stops_when_the_loss_is_not_finite
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
        if len(waiting) == 10:
            if not tell(log, logged, waiting):
                return
            logged += len(waiting)
            waiting = []
    if waiting:
        for step, row in enumerate(torch.stack(waiting).tolist(), logged):
            log(step, *row)


def tell(log, first, waiting):
    for step, (loss, accuracy) in enumerate(torch.stack(waiting).tolist(), first):
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            return False
    return True
