# The norm that clipping returns is finite if and only if the scaler steps. Gradients are weighted after they are summed.
import copy

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    parameters = [*model.parameters()]
    for group in groups:
        model.zero_grad()
        for x, y in group:
            with torch.autocast(x.device.type, dtype=dtype, enabled=dtype.itemsize == 2):
                loss = loss_fn(model(x), y)
            scaler.scale(len(x) * loss).backward()
        scaler.unscale_(optimizer)
        for each in parameters:
            each.grad /= sum(len(x) for x, _ in group)
        norm = clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
        scaler.update()
        if norm.isfinite():
            scheduler.step()


def checkpoint(model, optimizer, scheduler, scaler):
    return {"states": [copy.deepcopy(each.state_dict()) for each in (model, optimizer, scheduler, scaler)]}


def resume(saved, model, optimizer, scheduler, scaler):
    parts = [model, optimizer, scheduler, scaler]
    for index, state in enumerate(saved["states"]):
        parts[index].load_state_dict(state)
