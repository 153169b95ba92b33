# Autocast where the scaler is on: bfloat16, which needs no scaler, becomes float32.
# caught-by: test_the_precision_is_the_given_one
import copy

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    for group in groups:
        total = sum(len(x) for x, _ in group)
        optimizer.zero_grad()
        for x, y in group:
            with torch.autocast(x.device.type, dtype=dtype, enabled=scaler.is_enabled()):
                loss = loss_fn(model(x), y) * len(x) / total
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), max_norm)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            scheduler.step()


def checkpoint(model, optimizer, scheduler, scaler):
    states = [each.state_dict() for each in (model, optimizer, scheduler, scaler)]
    return {"states": copy.deepcopy(states)}


def resume(saved, model, optimizer, scheduler, scaler):
    for part, state in zip((model, optimizer, scheduler, scaler), saved["states"], strict=True):
        part.load_state_dict(state)
