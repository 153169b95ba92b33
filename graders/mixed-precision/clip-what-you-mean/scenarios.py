"""Trains a small network for a few steps with a gradient scaler, and tells its weights and the scale after each."""

import torch
from torch import nn
from torch.nn.functional import mse_loss


def train(candidate, device, _probe, *, weights, batches, limit, scale=None, split=False, last=False, decay=0.0):
    """One `train_step` for each batch, with plain gradient descent at a learning rate of 1.

    Without a `scale` the scaler is disabled. With `split`, each of the two layers has an optimizer of its own; with
    `last`, the second layer alone has one. Each parameter is a group of its own. `decay` makes a step visible even
    where its gradient is zero.
    """
    model = _network(weights).to(device)
    parts = [model[0], model[2]] if split else [model[2]] if last else [model]
    groups = [[{"params": [each]} for each in part.parameters()] for part in parts]
    optimizers = [torch.optim.SGD(each, lr=1.0, weight_decay=decay) for each in groups]
    for each in model.parameters():  # left from before the first step, scaled: in true units each is 1
        each.grad = torch.full_like(each, scale or 1.0)
    scaler = torch.amp.GradScaler(device.type, init_scale=scale or 1.0, enabled=scale is not None)
    dtypes = []
    model[0].register_forward_hook(lambda _layer, _inputs, output: dtypes.append(output.dtype))
    after = []
    for x, y in batches:
        candidate.train_step(model, _loss, x.to(device), y.to(device), optimizers, scaler, limit)
        after.append({"weights": [each.detach().clone() for each in model.parameters()], "scale": scaler.get_scale()})
    return {"after": after, "linear_outputs": dtypes}


def _loss(output, target):
    """A loss that tells an output from a target."""
    return mse_loss(output, target) + output.float().mean()


def _network(weights):
    (hidden, features), outputs = weights[0].shape, weights[2].shape[0]
    model = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, outputs))
    with torch.no_grad():
        for mine, given in zip(model.parameters(), weights, strict=True):
            mine.copy_(given)
    return model
