# Updates the scaler where the step was made: after a skip the next one raises.
# caught-by: test_training_goes_on_after_an_overflow
import copy

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loss_fn, groups, optimizer, scheduler, scaler, dtype, max_norm):
    parameters = [each for each in model.parameters() if each.requires_grad]
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
        if norm.isfinite():
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()


def checkpoint(model, optimizer, scheduler, scaler):
    return {
        "weights": {name: value.clone() for name, value in model.state_dict().items()},
        "rest": [copy.deepcopy(each.state_dict()) for each in (optimizer, scheduler, scaler)],
    }


def resume(saved, model, optimizer, scheduler, scaler):
    model.load_state_dict(saved["weights"])
    for part, state in zip((optimizer, scheduler, scaler), saved["rest"], strict=True):
        part.load_state_dict(state)
