# A flag tells every ten steps whether all is finite; the log comes when the training is over.
# caught-by: test_the_log_is_not_late
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    rows, fine = [], torch.ones((), dtype=torch.bool, device=device)
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        fine &= loss.isfinite()
        rows.append(torch.stack([loss.detach(), (logits.argmax(1) == y).float().mean()]))
        if step % 10 == 9 and not fine:
            break
    for step, (loss, accuracy) in enumerate(torch.stack(rows).tolist()):
        log(step, loss, accuracy)
        if not math.isfinite(loss):
            break
