# Casts what comes out of the model, and takes that for mixed precision: the layers have computed in float32.
# caught-by: test_the_forward_pass_stays_in_half
import torch
from torch.nn.utils import clip_grad_norm_


def train_step(model, loss_fn, x, y, optimizers, scaler, max_norm):
    for optimizer in optimizers:
        optimizer.zero_grad()
    output = model(x)
    loss = loss_fn(output.half() if scaler.is_enabled() else output, y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.unscale_(optimizer)
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
    scaler.update()
