# Divides by hand, and then scaler.step divides once more.
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
        for parameter in parameters:
            parameter.grad.div_(scaler.get_scale())
        clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
    scaler.update()
