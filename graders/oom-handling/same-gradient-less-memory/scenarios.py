"""Makes one training step with a small classifier, and notes what its model, its optimizer and its memory see."""

import torch
from torch import nn


def step(candidate, device, _probe, *, weights, x, y, chunk, rate, old=1.0):
    """One step, from gradients that are `old`; its gradients are looked at when the optimizer has stepped."""
    model = _classifier(weights).to(device)
    return _step(candidate, model, x, y, chunk, rate, old)


def rows_in_chunks(candidate, device, _probe, *, weights, x, y, chunks, rate):
    """What the model gets in each of several steps, which allow chunks of different lengths."""
    return [_step(candidate, _classifier(weights).to(device), x, y, chunk, rate)["chunks"] for chunk in chunks]


def step_with_norm(candidate, device, probe, *, weights, kind, norm, x, y, chunk, rate, frozen):
    """The same with normalization of that kind inside, in evaluation mode if `frozen`, else in training mode."""
    model = _classifier(weights, kind, norm).to(device)
    if frozen:
        model[1].eval()
    before = {name: each.clone() for name, each in model.state_dict().items()}
    told = probe.attempt(_step, candidate, model, x, y, chunk, rate)
    after = model.state_dict()
    return told | {
        "unchanged": all(torch.equal(each, after[name]) for name, each in before.items()),
        "gradients_unchanged": all(
            each.grad is not None and bool((each.grad == 1).all()) for each in model.parameters()
        ),
    }


def large(candidate, device, probe, *, rows, chunk, kept):
    """One step with a model that needs `kept` bytes for each row until its backward pass, under watch."""
    model = nn.Sequential(_Linear(1, 2), _Greedy(kept), _Linear(2, 1 << 16)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = [torch.ones(rows, 1), torch.zeros(rows, dtype=torch.int64)]
    with probe.watch():
        told = probe.attempt(candidate.train_step, model, batch, optimizer, chunk)
    return {"raised": told.get("raised")}


def _step(candidate, model, x, y, chunk, rate, old=1.0):
    seen = {"chunks": [], "steps": []}
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for each in model.parameters():
        each.grad = torch.full_like(each, old)
    model.register_forward_pre_hook(lambda _model, inputs: seen["chunks"].append(inputs[0].detach().clone()))
    optimizer.register_step_post_hook(lambda *_: seen["steps"].append(_gradients(model)))
    loss = candidate.train_step(model, [x, y], optimizer, chunk)
    return seen | {"loss": loss, "weights": [each.detach() for each in model.parameters()]}


def _gradients(model):
    return [None if each.grad is None else each.grad.detach().clone() for each in model.parameters()]


class _Linear(nn.Linear):
    """Without a matmul, whose workspace on a GPU would be taken out of the budget."""

    def forward(self, x):
        return (x.unsqueeze(1) * self.weight).sum(2) + self.bias


class _Greedy(nn.Module):
    """Passes on what it gets, and saves a large buffer for the backward pass, `size` bytes for each row."""

    def __init__(self, size):
        super().__init__()
        self._size = size

    def forward(self, x):
        return _Saves.apply(x, self._size)


class _Saves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size):
        ctx.save_for_backward(torch.empty(len(x), size, dtype=torch.uint8, device=x.device))
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


def _normalization(kind, size):
    """Batch normalization, or instance normalization of each row by itself."""
    if kind == "InstanceNorm1d":
        return nn.Sequential(nn.Unflatten(1, (1, size)), nn.InstanceNorm1d(1), nn.Flatten())
    return getattr(nn, kind)(size)


def _classifier(weights, kind=None, norm=None):
    wide, _, narrow, _ = weights
    inside = nn.Sequential(nn.Tanh())
    if kind is not None:
        layer = _normalization(kind, wide.shape[0]).to(wide.dtype)
        layer.load_state_dict(norm, strict=False)
        inside.insert(0, nn.Sequential(nn.Sequential(layer)))
    model = nn.Sequential(_Linear(wide.shape[1], wide.shape[0]), inside, _Linear(narrow.shape[1], narrow.shape[0])).to(
        wide.dtype
    )
    with torch.no_grad():
        for mine, given in zip([*model[0].parameters(), *model[2].parameters()], weights, strict=True):
            mine.copy_(given)
    return model
