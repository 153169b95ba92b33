# The copies do not wait, and nobody waits for them: what is logged is what the memory held before.
# only: virtual
# caught-by: test_the_log_is_right, test_it_stops_when_the_loss_is_not_finite
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
    rows = torch.stack(waiting).to("cpu", non_blocking=True)
    for step, (loss, accuracy) in enumerate(rows.tolist(), first):
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            return False
    return True
