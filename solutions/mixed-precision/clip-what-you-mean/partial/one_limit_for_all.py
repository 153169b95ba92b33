# Clips the parameters of all optimizers together: another limit than was asked for.
# caught-by: test_each_optimizer_has_its_own_limit
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
    clip_grad_norm_(model.parameters(), max_norm)
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
