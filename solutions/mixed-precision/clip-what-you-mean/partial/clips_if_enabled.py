# Takes clipping for a part of mixed precision: with the scaler disabled there is none.
# caught-by: test_a_disabled_scaler_is_plain_float32
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    for optimizer in optimizers:
        optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        if scaler.is_enabled():
            scaler.unscale_(optimizer)
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
    scaler.update()
