"""Training that goes on from a checkpoint, on another device or on the same one, with several optimizers."""

import torch
from torch import nn


class _Model(nn.Module):
    """Two layers, and a buffer that each forward halves; the last bias is frozen: no optimizer has a state for it."""

    def __init__(self, features, hidden):
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, 1)
        self.second.bias.requires_grad_(False)
        self.register_buffer("shift", torch.zeros(features))

    def forward(self, x):
        x = x + self.shift
        self.shift.mul_(0.5)
        return self.second(torch.tanh(self.first(x)))


class _Averaging(torch.optim.Optimizer):
    """Goes along the mean of the last two gradients and a slow average: both are deep in the state and change there."""

    def __init__(self, groups, lr):
        super().__init__(groups, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state.update(averages={"slow": torch.zeros_like(grad), "keeps": [0.9, 0.1]})
                    state.update(recent=[torch.zeros_like(grad), torch.zeros_like(grad)])
                averages, (last, older) = state["averages"], state["recent"]
                keeps, adds = averages["keeps"]
                slow = averages["slow"].mul_(keeps).add_(grad, alpha=adds)
                state["recent"] = [older.copy_(grad), last]
                parameter.sub_(group["lr"] * (slow + (grad + last) / 2))


def go_on(candidate, device, probe, *, kind, sizes, rate, checkpoint, batches, origin, target):
    """Resumes once, from a checkpoint with its tensors on one device, on another; then some steps."""
    places = {"cpu": torch.device("cpu"), "meta": torch.device("meta"), "here": device}
    saved, place = _placed(checkpoint, places[origin]), places[target]
    model = _Model(*sizes)
    optimizer = candidate.resume(saved, model, _maker(kind, rate), place)
    held = [each for group in optimizer.param_groups for each in group["params"]]
    own = [*model.parameters()]
    told = {
        "same": len(held) == len(own) and all(any(one is each for one in held) for each in own),
        "model": [str(each.device) for each in (*own, *model.buffers())],
        "state": [str(each.device) for each in _tensors([*optimizer.state.values()]) if each.dim()],
    }
    return told if target == "meta" else told | {"trained": probe.attempt(_train, model, optimizer, batches, place)}


def twice(candidate, device, probe, *, kind, sizes, rate, checkpoint, batches, origin):
    """Resumes from a checkpoint and trains, and does so again; what the checkpoint is afterwards."""
    saved = _placed(checkpoint, torch.device("cpu") if origin == "cpu" else device)
    runs = []
    for _ in range(2):
        model = _Model(*sizes)
        optimizer = candidate.resume(saved, model, _maker(kind, rate), device)
        runs.append({"trained": probe.attempt(_train, model, optimizer, batches, device)})
    return {"runs": runs, "saved": saved}


def _maker(kind, rate):
    def make(model):
        parts = [*model.parameters()]
        groups = [{"params": [each for each in parts if each.dim() == dim]} for dim in (2, 1)]
        if kind == "adam":
            return torch.optim.Adam(groups, lr=rate)
        if kind == "adagrad":
            return torch.optim.Adagrad(groups, lr=rate, lr_decay=0.1)
        if kind == "momentum":
            return torch.optim.SGD(groups, lr=rate, momentum=0.9)
        return _Averaging(groups, rate)

    return make


def _train(model, optimizer, batches, device):
    for x, y in batches:
        optimizer.zero_grad()
        (model(x.to(device)) - y.to(device)).square().mean().backward()
        optimizer.step()
    return {name: each.detach() for name, each in model.named_parameters()}


def _placed(value, device):
    """All of it anew, with its tensors on the device: but for single numbers, which optimizers keep on the CPU."""
    if isinstance(value, torch.Tensor):
        return value.to(device if value.dim() else "cpu", copy=True)
    if isinstance(value, dict):
        return {key: _placed(each, device) for key, each in value.items()}
    return type(value)(_placed(each, device) for each in value) if isinstance(value, (list, tuple)) else value


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [each for item in items for each in _tensors(item)]
