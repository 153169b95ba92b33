# Takes the first group for the whole optimizer: those of the others are not clipped.
# caught-by: test_the_update_is_the_clipped_gradient
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    for optimizer in optimizers:
        optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.unscale_(optimizer)
        clip_grad_norm_(optimizer.param_groups[0]["params"], max_norm)
        scaler.step(optimizer)
    scaler.update()
