# Divides the right classes by the size of the first batch; the last one is smaller.
# caught-by: test_the_log_is_right
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    waiting, logged, rows = [], 0, None
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        rows = rows or len(y)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        waiting.append(torch.stack([loss.detach(), (logits.argmax(1) == y).sum() / rows]))
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
