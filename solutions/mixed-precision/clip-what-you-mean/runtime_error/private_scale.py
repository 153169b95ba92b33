# Reads the scaler's private tensor, which a disabled scaler does not have; get_scale() is for that.
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
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        clip_grad_norm_(parameters, max_norm * scaler._scale.item())
        scaler.step(optimizer)
    scaler.update()
