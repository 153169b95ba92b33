# The optimizer says itself that it stepped, through a hook. The checkpoint is written to memory and read back.
import io

import torch
from torch import nn


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    hook = optimizer.register_step_post_hook(lambda *_: scheduler.step())
    for group in groups:
        one_group(model, loss_fn, group, optimizer, scaler, dtype, max_norm)
    hook.remove()


def one_group(model, loss_fn, group, optimizer, scaler, dtype, max_norm):
    samples = sum(y.shape[0] for _, y in group)
    optimizer.zero_grad()
    for x, y in group:
        with torch.autocast(x.device.type, dtype=dtype, enabled=dtype in (torch.float16, torch.bfloat16)):
            loss = loss_fn(model(x), y)
        scaler.scale(loss * (y.shape[0] / samples)).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()


def checkpoint(model, optimizer, scheduler, scaler):
    file = io.BytesIO()
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "scaler": scaler.state_dict(),
        },
        file,
    )
    file.seek(0)
    return torch.load(file)


def resume(saved, model, optimizer, scheduler, scaler):
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    for name, state in saved.items():
        parts[name].load_state_dict(state)
