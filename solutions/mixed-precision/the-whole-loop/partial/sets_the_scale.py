# Sets the scale after an overflow by hand. The count of good steps goes on.
# caught-by: test_the_scale_moves_once_per_group
import copy

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    for group in groups:
        total = sum(len(x) for x, _ in group)
        optimizer.zero_grad()
        for x, y in group:
            with torch.autocast(x.device.type, dtype=dtype, enabled=dtype != torch.float32):
                loss = loss_fn(model(x), y) * len(x) / total
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), max_norm)
        if all(each.grad.isfinite().all() for each in model.parameters()):
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
        else:
            scaler.update(scaler.get_scale() * scaler.get_backoff_factor())


def checkpoint(model, optimizer, scheduler, scaler):
    states = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    return {name: copy.deepcopy(part.state_dict()) for name, part in states.items()}


def resume(saved, model, optimizer, scheduler, scaler):
    for name, part in {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}.items():
        part.load_state_dict(saved[name])
