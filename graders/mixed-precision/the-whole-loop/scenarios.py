"""Trains a small network group by group, and tells its weights, the scale and the schedule after each call."""

import io

import torch
from torch import nn
from torch.nn.functional import mse_loss


def train(
    candidate, device, probe, *, weights, groups, dtype, limit, scale=None, decay=False, at_once=False, left=False
):
    """One call of `train` for each group, or a single one for all of them. With `left`, gradients are there before."""
    run = _Run(device, weights, dtype, scale, decay=decay)
    for parameter in run.model.parameters() if left else ():
        parameter.grad = torch.full_like(parameter, 4 * run.scaler.get_scale())
    given = _on(groups, device)
    with probe.watch("training"):
        after = [run.go(candidate, part, limit) for part in ([given] if at_once else [[group] for group in given])]
    return {"after": after, "linear_outputs": run.dtypes}


def resume(candidate, device, _probe, *, weights, others, groups, more, dtype, limit, scale=None, late=False):
    """Training that goes on, and training that goes on from a checkpoint in objects made anew.

    The file is written at once, or, where `late`, after the first training went on.
    """
    first = _Run(device, weights, dtype, scale, decay=True)
    first.go(candidate, _on(groups, device), limit)
    saved = candidate.checkpoint(*first.parts)
    file = io.BytesIO()
    if not late:
        torch.save(saved, file)
    went_on = [first.go(candidate, [group], limit) for group in _on(more, device)]
    if late:
        torch.save(saved, file)
    file.seek(0)
    second = _Run(device, others, dtype, scale, decay=True)
    candidate.resume(torch.load(file, map_location=device, weights_only=True), *second.parts)
    resumed = [second.go(candidate, [group], limit) for group in _on(more, device)]
    return {"went_on": went_on, "resumed": resumed}


class _Run:
    """All that a training consists of. Without a `scale` the scaler is disabled."""

    def __init__(self, device, weights, dtype, scale, *, decay):
        self.model = _network(weights).to(device)
        self.dtype = getattr(torch, dtype)
        layers = [{"params": [*self.model[at].parameters()]} for at in (0, 2)]
        self.optimizer = torch.optim.SGD(layers, lr=0.5, momentum=0.5)
        factor = (lambda step: 1 / (1 + step)) if decay else (lambda _step: 1.0)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, factor)
        self.scaler = torch.amp.GradScaler(
            device.type, init_scale=scale or 1.0, growth_interval=3, enabled=scale is not None
        )
        self.parts = (self.model, self.optimizer, self.scheduler, self.scaler)
        self.steps, self.dtypes = 0, []
        self.optimizer.register_step_post_hook(self._count)
        self.model[0].register_forward_hook(lambda _layer, _inputs, output: self.dtypes.append(output.dtype))

    def _count(self, *_):
        self.steps += 1

    def go(self, candidate, groups, limit):
        model, *rest = self.parts
        candidate.train(model, _loss, groups, *rest, self.dtype, limit)
        return {
            "weights": [each.detach().clone() for each in model.parameters()],
            "scale": self.scaler.get_scale(),
            "steps": self.steps,
            "scheduled": self.scheduler.last_epoch,
            "rate": self.optimizer.param_groups[0]["lr"],
        }


def _loss(out, y):
    """The squared error, and a little of the output itself: it matters which of the two comes first."""
    return mse_loss(out, y) + out.float().mean() / 8


def _on(groups, device):
    return [[(x.to(device), y.to(device)) for x, y in group] for group in groups]


def _network(weights):
    (hidden, features), outputs = weights[0].shape, weights[2].shape[0]
    model = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, outputs))
    with torch.no_grad():
        for mine, given in zip(model.parameters(), weights, strict=True):
            mine.copy_(given)
    return model
