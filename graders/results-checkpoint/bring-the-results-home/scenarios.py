"""Collects the results of a small classifier, trains it on, and tells what became of results and model."""

import json

import numpy as np
import torch
from torch import nn


def collect(candidate, device, probe, *, weight, bias, batches, dtype):
    """One collection, then a change of all parameters, as a training would make it."""
    model = _Classifier(weight, bias).to(device, dtype).eval()
    before, known = _state(model), [*model.parameters()]
    with probe.watch():
        returned = candidate.collect(model, [(x.clone(), y.clone()) for x, y in batches], device)
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
    return [[str(each.device), str(each.dtype), each.requires_grad] for each in model.parameters()] + [model.training]


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
    """One layer, which takes inputs in any dtype and gives logits in its own."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight = nn.Parameter(weight.clone())
        self.bias = nn.Parameter(bias.clone())

    def forward(self, x):
        return nn.functional.linear(x.to(self.weight.dtype), self.weight, self.bias)
