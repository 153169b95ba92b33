# Advances the scheduler where all losses are finite: their scaled gradients may overflow all the same.
# caught-by: test_the_scheduler_counts_steps
import copy

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    for group in groups:
        total = sum(len(x) for x, _ in group)
        optimizer.zero_grad()
        finite = True
        for x, y in group:
            with torch.autocast(x.device.type, dtype=dtype, enabled=dtype != torch.float32):
                loss = loss_fn(model(x), y) * len(x) / total
            scaler.scale(loss).backward()
            finite = finite and bool(loss.isfinite())
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        if finite:
            scheduler.step()


def checkpoint(model, optimizer, scheduler, scaler):
    states = [each.state_dict() for each in (model, optimizer, scheduler, scaler)]
    return {"states": copy.deepcopy(states)}


def resume(saved, model, optimizer, scheduler, scaler):
    for part, state in zip((model, optimizer, scheduler, scaler), saved["states"], strict=True):
        part.load_state_dict(state)
