# Zeroes the gradients after a step: after a skipped one the infinite ones are still there.
# caught-by: test_training_goes_on_after_an_overflow
import copy

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    for group in groups:
        total = sum(len(x) for x, _ in group)
        for x, y in group:
            with torch.autocast(x.device.type, dtype=dtype, enabled=dtype != torch.float32):
                loss = loss_fn(model(x), y) * len(x) / total
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), max_norm)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            scheduler.step()
            optimizer.zero_grad()


def checkpoint(model, optimizer, scheduler, scaler):
    states = [each.state_dict() for each in (model, optimizer, scheduler, scaler)]
    return {"states": copy.deepcopy(states)}


def resume(saved, model, optimizer, scheduler, scaler):
    for part, state in zip((model, optimizer, scheduler, scaler), saved["states"], strict=True):
        part.load_state_dict(state)
