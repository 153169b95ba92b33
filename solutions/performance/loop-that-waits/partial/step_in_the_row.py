# The step's number travels with the loss, and comes back as a float.
# caught-by: test_the_log_is_right
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    waiting = []
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        number = torch.full_like(loss, step)
        waiting.append(torch.stack([number, loss.detach(), (logits.argmax(1) == y).float().mean()]))
        if len(waiting) == 10:
            if not tell(log, waiting):
                return
            waiting = []
    if waiting:
        tell(log, waiting)


def tell(log, waiting):
    for step, loss, accuracy in torch.stack(waiting).tolist():
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            return False
    return True
