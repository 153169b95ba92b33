# A table on the device has a row for each of ten steps; all its rows are copied when it is full.
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    table = Table(device, log)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        accuracy = logits.argmax(1).eq(y).sum() / len(y)
        table.add(loss.detach(), accuracy)
        if table.filled == len(table.rows) and table.flush():
            return
    table.flush()


class Table:
    def __init__(self, device, log):
        self.rows, self.log = torch.zeros(10, 2, device=device), log
        self.filled = self.logged = 0

    def add(self, loss, accuracy):
        self.rows[self.filled] = torch.stack((loss, accuracy))
        self.filled += 1

    def flush(self):
        """Logs the rows; True if one of them has a loss that is not finite."""
        rows = self.rows[: self.filled].tolist()
        self.filled = 0
        for loss, accuracy in rows:
            self.log(self.logged, loss, accuracy)
            self.logged += 1
            if not math.isfinite(loss):
                return True
