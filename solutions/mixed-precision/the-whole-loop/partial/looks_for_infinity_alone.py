# Decides by itself whether to step, and asks for infinity alone.
# caught-by: test_an_overflow_changes_no_weight
import copy

import torch
from torch.nn.utils import clip_grads_with_norm_, get_total_norm


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    for group in groups:
        total = sum(len(x) for x, _ in group)
        optimizer.zero_grad()
        for x, y in group:
            with torch.autocast(x.device.type, dtype=dtype, enabled=dtype != torch.float32):
                loss = loss_fn(model(x), y) * len(x) / total
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = get_total_norm([each.grad for each in model.parameters()])
        if norm > max_norm and norm.isfinite():
            clip_grads_with_norm_(model.parameters(), max_norm, norm)
        if not any(each.grad.isinf().any() for each in model.parameters()):
            optimizer.step()
            scheduler.step()
        scaler.update()


def checkpoint(model, optimizer, scheduler, scaler):
    states = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    return {name: copy.deepcopy(part.state_dict()) for name, part in states.items()}


def resume(saved, model, optimizer, scheduler, scaler):
    for name, part in {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}.items():
        part.load_state_dict(saved[name])
