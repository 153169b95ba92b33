# Fast, and nine losses of ten are gone.
# caught-by: test_the_log_is_right
import math

import torch
import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            accuracy = (logits.argmax(1) == y).float().mean()
            loss, accuracy = torch.stack([loss.detach(), accuracy]).tolist()
            log(step, loss, accuracy)
            if not math.isfinite(loss):
                break
