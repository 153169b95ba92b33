# Adds up the gradients of sums and divides them once, before the step.
import torch
import torch.nn.functional as F


def refuse_batch_norm(model):
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.training:
            raise ValueError("batch normalization needs the whole batch at once")


def train_step(model, batch, optimizer, max_chunk):
    refuse_batch_norm(model)
    device = next(model.parameters()).device
    total, count = 0, 0
    optimizer.zero_grad()
    for start in range(0, len(batch[0]), max_chunk):
        x, y = (each[start : start + max_chunk].to(device) for each in batch)
        loss = F.cross_entropy(model(x), y, reduction="sum")
        loss.backward()
        total += float(loss)
        count += int((y != -100).sum())
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad.div_(count)
    optimizer.step()
    return total / count
