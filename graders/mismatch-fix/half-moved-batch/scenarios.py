"""Trains a small image classifier over the same few batches again and again, and notes where everything is."""

import contextlib
import unittest.mock

import torch
from torch import nn


def train(candidate, device, probe, *, weights, batches, rate, epochs):
    """The training, on the job's device."""
    model, told = _train(candidate, device, probe, weights, batches, rate, epochs)
    return told | {"weights": [each.detach() for each in model.parameters()]}


def train_elsewhere(candidate, _device, probe, *, weights, batches, rate, epochs):
    """The training, on the meta device: a second device that every machine has, whose tensors have no values."""
    _, told = _train(candidate, torch.device("meta"), probe, weights, batches, rate, epochs)
    return told | {"losses": [probe.describe(each) for each in told["losses"]]}


def train_on_the_second(candidate, device, probe, *, weights, batches, rate, epochs):
    """The training, on the accelerator after the job's, while the job's is the current one."""
    first = device.index or 0
    torch.accelerator.set_device_index(first)
    given = torch.device(device.type, (first + 1) % torch.accelerator.device_count())
    _, told = _train(candidate, given, probe, weights, batches, rate, epochs)
    return told | {"given": str(given), "losses": [probe.describe(each) for each in told["losses"]]}


def _train(candidate, device, probe, weights, batches, rate, epochs):
    model = _classifier(weights).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    computed, losses, runs, steps = [], [], [], []
    model[0].register_forward_hook(lambda *_: runs.append(len(losses)))
    for layer in model:
        layer.register_forward_hook(lambda _layer, inputs, output: computed.extend([inputs[0].device, output.device]))
    optimizer.register_step_post_hook(
        lambda *_: steps.append([probe.describe(each.grad) for each in model.parameters()])
    )
    loader = [[images.clone(), labels.clone()] for images, labels in batches]
    with _moves(model) as moved:
        for step, batch in enumerate(loader * epochs):
            with probe.watch(f"step {step}"):
                losses.append(candidate.train_step(model, batch, optimizer, device))
    return model, {
        "computed_on": sorted({str(each) for each in computed}),
        "losses": losses,
        "parameters": [probe.describe(each) for each in model.parameters()],
        "runs": runs,
        "steps": steps,
        "moved": len(moved) > 0,
        "batches": [[probe.describe(each) for each in batch] for batch in loader],
        "same_values": [[torch.equal(*pair) for pair in _pairs(*both)] for both in zip(loader, batches, strict=True)],
    }


def _classifier(weights):
    wide, _, narrow, _ = weights
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(wide.shape[1], wide.shape[0]), nn.ReLU(), nn.Linear(narrow.shape[1], narrow.shape[0])
    )
    with torch.no_grad():
        for mine, given in zip(model.parameters(), weights, strict=True):
            mine.copy_(given)
    return model


def _pairs(batch, given):
    return [(mine.cpu(), theirs) for mine, theirs in zip(batch, given, strict=True) if mine.device.type != "meta"]


@contextlib.contextmanager
def _moves(model):
    """Notes each time that the model, or a part of it, is asked to move or to cast itself."""
    parts, moved, apply = [*model.modules()], [], nn.Module._apply  # noqa: SLF001 - all moves go through it

    def noting(self, *args, **kwargs):
        if any(self is part for part in parts):
            moved.append(self)
        return apply(self, *args, **kwargs)

    with unittest.mock.patch.object(nn.Module, "_apply", noting):
        yield moved
