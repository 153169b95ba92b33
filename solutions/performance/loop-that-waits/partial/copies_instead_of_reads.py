# No `.item()` on the device any more: each number is copied to the CPU, and read there.
# caught-by: test_trips_are_few
import math

import torch.nn.functional as F


def train(model, loader, optimizer, device, log):
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (logits.argmax(1) == y).float().mean()
        loss, accuracy = loss.detach().cpu(), accuracy.cpu()
        log(step, loss.item(), accuracy.item())
        if not math.isfinite(loss):
            break
