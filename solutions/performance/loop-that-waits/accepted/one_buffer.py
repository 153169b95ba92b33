# A table on the device has a row for each of ten steps; the whole table is copied when it is full.
import math

import torch
import torch.nn.functional as F

ROWS = 10


def train(model, loader, optimizer, device, log):
    table, step = torch.zeros(ROWS, 2, device=device), -1

    def flush(first, count):
        for at, (loss, accuracy) in enumerate(table.cpu()[:count].tolist()):
            log(first + at, loss, accuracy)
            if not math.isfinite(loss):
                return True
        return False

    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            table[step % ROWS, 0] = loss
            table[step % ROWS, 1] = logits.argmax(1).eq(y).sum() / len(y)
        if step % ROWS == ROWS - 1 and flush(step - ROWS + 1, ROWS):
            return
    left = (step + 1) % ROWS
    if left:
        flush(step + 1 - left, left)
