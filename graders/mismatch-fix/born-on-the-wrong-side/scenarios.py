"""Lets an encoder work on the CPU, on the job's device, and on the meta device, in several dtypes and sizes."""

import copy

import torch
from torch import nn


def encode(candidate, device, _probe, *, weights, sizes, tokens, direction, dtype="float32"):
    """Two calls with the same tokens on the job's device, and the gradients of a weighted sum of the first result.

    The encoder has worked there in float32, on one sequence of that length, before it gets its dtype.
    """
    encoder, given = _encoder(candidate, weights, sizes).to(device), tokens.to(device)
    encoder(given[:1])
    encoder.to(getattr(torch, dtype))
    result = encoder(given)
    (result * direction.to(result)).sum().backward()
    return {
        "results": [result.detach(), encoder(given).detach()],
        "grads": {name: each.grad for name, each in encoder.named_parameters()},
    }


def in_turn(candidate, device, _probe, *, weights, sizes, batches):
    """One encoder on the job's device, and batches of different sizes one after the other."""
    encoder = _encoder(candidate, weights, sizes).to(device)
    return [encoder(tokens.to(device)).detach() for tokens in batches]


def elsewhere(candidate, _device, probe, *, weights, sizes, tokens):
    """A deep copy, inside a larger module, is moved to the meta device, which every machine has.

    The original works before and after.
    """
    encoder = _encoder(candidate, weights, sizes)
    encoder(tokens[:1])
    place = torch.device("meta")
    twin, given = nn.Sequential(copy.deepcopy(encoder)).to(place), tokens.to(place)
    with probe.watch():
        there = twin(given)
    settings = _settings()
    return {"there": probe.describe(there), "settings": settings, "here": encoder(tokens).detach()}


def with_other_settings(candidate, _device, _probe, *, weights, sizes, tokens, settings):
    """A call on the meta device, where somebody has chosen torch's global settings before."""
    place = torch.device("meta")
    encoder, given = _encoder(candidate, weights, sizes).to(place), tokens.to(place)
    torch.set_default_device(settings["device"])
    torch.set_default_dtype(getattr(torch, settings["dtype"]))
    torch.set_float32_matmul_precision(settings["precision"])
    try:
        encoder(given)
        return _settings()
    finally:
        torch.set_float32_matmul_precision("highest")  # which the next scenario does not put back, unlike the others


def there_and_back(candidate, device, probe, *, weights, sizes, tokens):
    """A deep copy of an encoder that has worked on the CPU, inside a larger module, is moved to the job's device.

    The original works on.
    """
    encoder = _encoder(candidate, weights, sizes)
    encoder(tokens[:1])
    twin = nn.Sequential(copy.deepcopy(encoder)).to(device)
    given = tokens.to(device)
    with probe.watch():
        there = twin(given)
    return {"there": there.detach(), "here": encoder(tokens).detach(), "back": twin.to("cpu")(tokens).detach()}


def _settings():
    fresh = torch.empty(0)
    dtype = str(fresh.dtype).removeprefix("torch.")
    return {"device": str(fresh.device), "dtype": dtype, "precision": torch.get_float32_matmul_precision()}


def _encoder(candidate, weights, sizes):
    encoder = candidate.Encoder(*sizes)
    encoder.load_state_dict(weights)
    return encoder
