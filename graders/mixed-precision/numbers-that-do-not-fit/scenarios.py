"""One forward and backward of an attention classifier; what came of it, and in which dtypes its layers computed."""

import contextlib

import torch
from torch import nn


def step(candidate, device, probe, *, weights, question, tokens, keep, y, dtype):
    """The loss as `forward_loss` computes it, under autocast unless `dtype` is float32, and its gradients."""
    layers = nn.ModuleDict({name: _linear(*given) for name, given in weights.items()}).to(device)
    dtypes = []
    for layer in layers.values():
        layer.register_forward_hook(lambda _layer, _inputs, output: dtypes.append(output.dtype))
    given = [each.to(device) for each in (question, tokens, keep, y)]
    half = torch.autocast(device.type, dtype=getattr(torch, dtype)) if dtype != "float32" else contextlib.nullcontext()
    with probe.watch("forward"), half:
        loss = candidate.forward_loss(layers, *given)
    back = probe.attempt(_backward, loss)
    return {
        "loss": loss,
        "backward": back,
        "grads": [each.grad for each in layers.parameters()],
        "linear_outputs": dtypes,
    }


def on_the_way(candidate, device, probe, **given):
    """The same, where only what is seen on the way counts, and not how it ends."""
    return {"raised": probe.attempt(step, candidate, device, probe, **given).get("raised")}


def _backward(loss):
    loss.backward()


def _linear(weight, bias):
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)
    return layer
