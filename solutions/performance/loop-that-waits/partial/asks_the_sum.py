# Asks the running sum, as the code to be repaired does: large losses that are finite add up to inf.
# caught-by: test_the_log_is_right
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    waiting, logged, total = [], 0, torch.zeros((), device=device)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
        waiting.append(torch.stack([loss.detach(), (logits.argmax(1) == y).float().mean(), total]))
        if len(waiting) == 10:
            if not tell(log, logged, waiting):
                return
            logged += len(waiting)
            waiting = []
    if waiting:
        tell(log, logged, waiting)


def tell(log, first, waiting):
    for step, (loss, accuracy, total) in enumerate(torch.stack(waiting).tolist(), first):
        log(step, loss, accuracy)
        if not math.isfinite(total):
            return False
    return True
