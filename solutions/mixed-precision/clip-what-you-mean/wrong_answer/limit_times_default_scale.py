# Scales the limit with the scale that a new GradScaler has, not with the one of this step.
# caught-by: test_the_scale_does_not_change_the_update
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    for optimizer in optimizers:
        optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        clip_grad_norm_(parameters, max_norm * 65536.0)
        scaler.step(optimizer)
    scaler.update()
