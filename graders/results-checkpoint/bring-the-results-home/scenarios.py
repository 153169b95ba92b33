"""Collects the results of a small classifier, trains it on, and tells what became of results and model."""

import json

import numpy as np
import torch
from torch import nn


def collect(candidate, device, probe, *, parameters, mean, batches, dtype):
    """One collection, then a change of all parameters, as a training would make it."""
    model = _Classifier(parameters, mean).to(device, dtype).eval()
    for each in model.parameters():
        each.grad = torch.ones_like(each)
    before, known = _state(model), [*model.parameters()]
    with probe.watch():
        returned = candidate.collect(model, iter([(x.clone(), y.clone()) for x, y in batches]), device)
    after = _state(model)
    if not (isinstance(returned, tuple) and len(returned) == 4):
        return {"returned": type(returned).__name__}
    probabilities, labels, weights, metrics = returned
    told = {
        "probabilities": _array(probabilities),
        "labels": _array(labels),
        "weights": _arrays(weights),
        "metrics": probe.attempt(lambda: json.loads(json.dumps(metrics))),
        "before": before,
        "after": after,
        "same": [id(each) for each in model.parameters()] == [id(each) for each in known],
    }
    with torch.no_grad():
        for each in model.parameters():
            each.add_(1)
    return told | {"later": _arrays(weights)}


def _state(model):
    told = [
        [str(each.device), str(each.dtype), each.requires_grad, each.grad is not None and bool((each.grad == 1).all())]
        for each in model.parameters()
    ]
    return [*told, model.training]


def _arrays(weights):
    return {name: _array(each) for name, each in weights.items()} if isinstance(weights, dict) else None


def _array(value):
    """A copy of an array's values, and its dtype; of anything else the name of its type."""
    if type(value) is not np.ndarray:
        return {"kind": type(value).__name__, "values": None}
    told = {"kind": "ndarray", "dtype": str(value.dtype)}
    known = told["dtype"] in ("float16", "float32", "float64", "int32", "int64")
    return told | {"values": torch.from_numpy(value.copy()) if known else None}


class _Classifier(nn.Module):
    """One layer, which takes the mean off its inputs in their dtype and gives logits in its own."""

    def __init__(self, parameters, mean):
        super().__init__()
        for name, value in parameters.items():
            self.register_parameter(name, nn.Parameter(value.clone()))
        self.register_buffer("mean", mean.clone())

    def forward(self, x):
        x = (x - self.mean).to(self.weight.dtype)
        return nn.functional.linear(x, self.weight, self.bias) * self.scale
