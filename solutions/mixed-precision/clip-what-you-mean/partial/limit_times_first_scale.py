# Scales the limit with the scale that the scaler had at first: wrong as soon as a step was skipped.
# caught-by: test_the_step_after_a_skipped_one
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    for optimizer in optimizers:
        optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    if not hasattr(scaler, "first_scale"):
        scaler.first_scale = scaler.get_scale()
    for optimizer in optimizers:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        clip_grad_norm_(parameters, max_norm * scaler.first_scale)
        scaler.step(optimizer)
    scaler.update()
