# Puts zeros where the gradient is not finite, so that no step is lost: the scaler never sees that its scale is too high.
# caught-by: test_an_infinite_gradient_changes_no_weight, test_an_infinite_gradient_lowers_the_scale_once
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
            parameter.grad.nan_to_num_(0.0, 0.0, 0.0)
        scaler.unscale_(optimizer)
        clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
    scaler.update()
