# A gradient that is not finite is made zero, and a step with zero changes nothing: except by weight decay and momentum.
# caught-by: test_an_infinite_gradient_changes_no_weight
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
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if not clip_grad_norm_(parameters, max_norm).isfinite():
            for parameter in parameters:
                parameter.grad.zero_()
        optimizer.step()
    scaler.update()
