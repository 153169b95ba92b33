# Loses zero_grad while the lines are moved about: each step carries all gradients before it.
# caught-by: test_the_update_is_the_clipped_gradient
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.unscale_(optimizer)
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
    scaler.update()
