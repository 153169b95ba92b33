"""Asks what training a model takes, and whether it fits, and tells what has become of the model and of the memory."""

import torch
from torch import nn


def count(candidate, _device, probe, *, layers, optimizer, dtype):
    """What is counted for a model; its state before and after, and the memory that the counting takes, in the trace."""
    model = _trained_before(layers)
    before = _snapshot(model)
    with probe.watch():
        told = candidate.training_bytes(model, _optimizers(optimizer), getattr(torch, dtype))
    return {"counted": told, "unchanged": before == _snapshot(model)}


def decide(candidate, device, probe, *, layers, optimizer, dtype, activations, free):
    """Whether it fits, and what has become of the model."""
    model = _trained_before(layers)
    before = _snapshot(model)
    arguments = (model, _optimizers(optimizer), getattr(torch, dtype), device, activations, free)
    with probe.watch():
        told = candidate.move_if_it_fits(*arguments)
    return {
        "fits": told,
        "unchanged": before == _snapshot(model),
        "tensors": [probe.describe(each) for each in [*model.parameters(), *model.buffers()]],
    }


def train(candidate, device, probe, *, layers, optimizer, dtype, activations, free):
    """Two steps of training on the device with activations of that size, if the answer is that they fit."""
    model, make = _model(layers), _optimizers(optimizer)
    told = probe.attempt(candidate.move_if_it_fits, model, make, getattr(torch, dtype), device, activations, free)
    if told.get("returned") is not True:
        return {"fits": told.get("returned"), "raised": told.get("raised")}
    steps = probe.attempt(_steps, model, make, device, activations)
    return {"fits": True, "raised": steps.get("raised")}


def _steps(model, make, device, activations):
    optimizer = make([each for each in model.parameters() if each.requires_grad])
    for _ in range(2):
        optimizer.zero_grad()
        held = torch.empty(activations, dtype=torch.uint8, device=device)
        loss = sum(layer.weight.sum() for layer in model if layer.weight.requires_grad)
        del held
        loss.backward()
        optimizer.step()


def _optimizers(given):
    name, options = given
    return lambda parameters: getattr(torch.optim, name)(parameters, **options)


class _Layer(nn.Module):
    """A weight, shared or its own, and a buffer of integers."""

    def __init__(self, shape, trained, integers, shared):
        super().__init__()
        self.weight = shared.weight if shared else nn.Parameter(torch.rand(shape), requires_grad=trained)
        self.register_buffer("table", torch.arange(integers) if integers else None)


def _model(layers):
    """The layers, and buffers of floats that belong to none of them and are in no state_dict."""
    model = nn.Sequential()
    for at, each in enumerate(layers):
        shared = model[each["shared"]] if "shared" in each else None
        model.append(_Layer(each["shape"], each["trained"], each["integers"], shared))
        if each["floats"]:
            model.register_buffer(f"mask_{at}", torch.rand(each["floats"]), persistent=False)
    return model


def _trained_before(layers):
    """A model that has gradients already, as one has that trained on another machine."""
    model = _model(layers)
    for each in model.parameters():
        each.grad = torch.ones_like(each) if each.requires_grad else None
    return model


def _snapshot(model):
    """All that may not change: values by their sum, since these models are too large for copies."""
    return [
        (each.dtype, each.device, each.requires_grad, _total(each.grad), _total(each))
        for each in [*model.parameters(), *model.buffers()]
    ]


def _total(tensor):
    return None if tensor is None else tensor.detach().double().sum().item()
