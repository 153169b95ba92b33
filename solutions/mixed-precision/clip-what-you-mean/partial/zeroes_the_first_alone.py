# Zeroes the gradients of the first optimizer: those of the second pile up.
# caught-by: test_each_optimizer_has_its_own_limit
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    optimizers[0].zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.unscale_(optimizer)  # from here on the gradients are in true units
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)  # does not unscale again, and skips if unscale_ found an inf
    scaler.update()
