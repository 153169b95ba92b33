# Logs the mean of ten steps for each of them: one number is cheap to bring.
# caught-by: test_the_log_is_right
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
        tell(log, logged, waiting)


def tell(log, first, waiting):
    loss, accuracy = torch.stack(waiting).mean(0).tolist()
    for step in range(first, first + len(waiting)):
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            return False
    return True
