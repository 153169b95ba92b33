"""One forward and backward of a small classifier that notes which dtypes and which autocast state it lives through."""

import torch
from torch import nn

_SPELLINGS = {
    "as its kind": lambda device: device.type,
    "as a torch.device": lambda device: device,
    "as a text": str,
    "as a torch.device with an index": lambda device: torch.device(device.type, device.index or 0),
    "as a text with an index": lambda device: f"{device.type}:{device.index or 0}",
    "as a torch.device without an index": lambda device: torch.device(device.type),
}


def one_step(candidate, device, probe, *, x, y, weights, dtype, spelling="as its kind"):
    """A forward with autocast, and the backward that the caller does; what is seen on the way."""
    model, seen = _classifier(weights, device)
    with probe.watch("forward"):
        loss = candidate.forward_loss(
            model, x.to(device), y.to(device), _SPELLINGS[spelling](device), getattr(torch, dtype)
        )
    early = [each.grad is not None for each in model.parameters()]
    back = probe.attempt(_backward, loss)
    return seen | {
        "loss": loss,
        "backward_before_return": any(early),
        "backward": back,
        "weights": [each.detach() for each in model.parameters()],
        "grads": [each.grad for each in model.parameters()],
        "autocast_after": torch.is_autocast_enabled(device.type),
    }


def next_step(candidate, device, _probe, *, x, y, weights, dtype):
    """A second forward, after the weights have changed in place, as by an optimizer: now all logits are 0 but one."""
    model, _ = _classifier(weights, device)
    arguments = model, x.to(device), y.to(device), device.type, getattr(torch, dtype)
    candidate.forward_loss(*arguments)
    with torch.no_grad():
        for each in model.parameters():
            each.zero_()
        model[-1].bias[0] = 1000
    return {"loss": candidate.forward_loss(*arguments)}


def model_that_raises(candidate, device, probe, *, x, y, weights, dtype):
    """A forward that ends with an exception of the model's own, which a second try would not raise."""
    model, _ = _classifier(weights, device)
    model.append(_Broken())
    with probe.watch("forward"):
        told = probe.attempt(
            candidate.forward_loss, model, x.to(device), y.to(device), device.type, getattr(torch, dtype)
        )
    return told | {"autocast_after": torch.is_autocast_enabled(device.type)}


def device_without_autocast(candidate, _device, probe, *, x, y, weights, dtype):
    """A forward on the meta device, where tensors have no values and autocast does not exist.

    The first operation on that device imports as much as the first optimizer does: the sandbox has it in memory before.
    """
    model, seen = _classifier(weights, torch.device("meta"))
    loss = candidate.forward_loss(model, x.to("meta"), y.to("meta"), torch.device("meta"), getattr(torch, dtype))
    return seen | {"loss": probe.describe(loss)}


def _backward(loss):
    loss.backward()


def _classifier(weights, device):
    """Two linear layers with the given weights, and the notes that they write."""
    (wide, bias), (narrow, shift) = weights
    first, second = nn.Linear(wide.shape[1], wide.shape[0]), nn.Linear(narrow.shape[1], narrow.shape[0])
    with torch.no_grad():
        for mine, given in zip(
            (first.weight, first.bias, second.weight, second.bias), (wide, bias, narrow, shift), strict=True
        ):
            mine.copy_(given)
    seen = {"linear_outputs": [], "autocast_in_backward": []}
    for layer in (first, second):
        layer.register_forward_hook(lambda _layer, _inputs, output: seen["linear_outputs"].append(output.dtype))
    layers = [_Centred(), first, nn.Tanh(), _Witness(seen["autocast_in_backward"]), second]
    return nn.Sequential(*layers).to(device), seen


class _Centred(nn.Module):
    """Centres raw values, which lie about 1000: in half precision they are hardly told apart."""

    def forward(self, x):
        return x - 1000


class _Witness(nn.Module):
    """Passes its input on, and notes in the backward pass whether autocast is on."""

    def __init__(self, notes):
        super().__init__()
        self._notes = notes

    def forward(self, x):
        return _Note.apply(x, self._notes)


class _Note(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, notes):
        ctx.notes = notes
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        kind = grad.device.type
        ctx.notes.append(torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind))
        return grad, None


class NoWayThrough(RuntimeError):
    pass


class _Broken(nn.Module):
    """Raises, but only once: who tries again and is content has not let the exception through."""

    def __init__(self):
        super().__init__()
        self._called = False

    def forward(self, x):
        if not self._called:
            self._called = True
            raise NoWayThrough(f"with {tuple(x.shape)}")
        return x
