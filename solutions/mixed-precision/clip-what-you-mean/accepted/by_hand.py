# By hand: divides by the scale, looks for infinities itself, and so never calls scaler.step, which would divide again.
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    for optimizer in optimizers:
        optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    inverse = 1.0 / scaler.get_scale()  # 1.0 if the scaler is disabled
    overflow = False
    for optimizer in optimizers:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        for parameter in parameters:
            parameter.grad.mul_(inverse)
        if clip_grad_norm_(parameters, max_norm).isfinite():
            optimizer.step()
        else:
            overflow = True
    if overflow and scaler.is_enabled():
        # The price of doing it by hand: the scale falls but never grows again.
        scaler.update(scaler.get_scale() * scaler.get_backoff_factor())
