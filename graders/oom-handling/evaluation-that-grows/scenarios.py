"""Evaluates small classifiers, one with a layer that needs much memory, and tells what is left switched afterwards."""

import weakref

import torch
from torch import nn


def evaluate(candidate, device, probe, *, weights, batches, dropout=0.0, training=True, recording=True, fault=None):
    """One evaluation that has no reason to fail, unless `fault` says who raises, and the first layer is frozen."""
    model = _classifier(weights, dropout).to(device).train(training)
    model[0].requires_grad_(False)
    seen = {"sizes": [], "recorded": []}
    model.register_forward_hook(lambda _model, inputs, output: _note(seen, inputs[0], output))
    if fault == "the model":
        model.register_forward_pre_hook(lambda _model, _inputs: _break_down(len(seen["sizes"])))
    kind = {"the loader": _Interrupted, "the loader at its start": _Unreachable}.get(fault, _Loader)
    loader = kind(batches)
    with torch.set_grad_enabled(recording):
        told = (
            probe.attempt(candidate.evaluate, model, loader, device)
            if fault
            else {"returned": candidate.evaluate(model, loader, device)}
        )
        after = {"recording": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled()}
    return (
        told
        | seen
        | after
        | {
            "modes": [each.training for each in model.modules()],
            "trained": [each.requires_grad for each in model.parameters()],
        }
    )


def many(candidate, device, probe, *, count, rows, classes, kept):
    """An evaluation of `count` batches by a model that needs `kept` bytes for each; what it holds is in the trace."""
    model = nn.Sequential(_Linear(1, 1), _Greedy(kept), _Linear(1, classes)).to(device)
    loader = _Loader([[torch.ones(rows, 1), torch.zeros(rows, dtype=torch.int64)]] * count)
    with probe.watch():
        told = probe.attempt(candidate.evaluate, model, loader, device)
    return {"raised": told.get("raised"), "held": loader.held}


class _Loader:
    """Batches one after the other, each made anew, as a DataLoader gives them; `held` earlier ones are still there."""

    def __init__(self, batches):
        self.dataset = [None] * sum(len(y) for _, y in batches)
        self.held = 0
        self._batches = batches

    def __len__(self):
        return len(self._batches)

    def __iter__(self):
        given = []
        for x, y in self._batches:
            self.held = max(self.held, sum(each() is not None for each in given))
            fresh = [x.clone(), y.clone()]
            given.append(weakref.ref(fresh[0]))
            yield fresh
            del fresh


class _Interrupted(_Loader):
    """Raises in the second batch."""

    def __iter__(self):
        for at, batch in enumerate(super().__iter__()):
            _break_down(at)
            yield batch


class _Unreachable(_Loader):
    """Raises as soon as an iterator is asked for, as one whose workers do not start."""

    def __iter__(self):
        raise ZeroDivisionError("no batch at all")


def _break_down(at):
    if at == 1:
        raise ZeroDivisionError("the second batch")


def _note(seen, x, output):
    seen["sizes"].append(len(x))
    seen["recorded"].append(output.requires_grad)


class _Linear(nn.Linear):
    """Without a matmul, whose workspace on a GPU would be taken out of the budget."""

    def forward(self, x):
        return (x.unsqueeze(1) * self.weight).sum(2) + self.bias


class _Functional(nn.Module):
    """Drops out by a function, which the model's mode reaches and a search for layers of dropout does not."""

    def __init__(self, share):
        super().__init__()
        self._share = share

    def forward(self, x):
        return nn.functional.dropout(x, self._share, self.training)


class _Greedy(nn.Module):
    """Passes on what it gets, and works with a large buffer, which is saved for a backward pass if one is recorded."""

    def __init__(self, size):
        super().__init__()
        self._size = size

    def forward(self, x):
        return _Saves.apply(x, self._size)


class _Saves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size):
        ctx.save_for_backward(torch.empty(size, dtype=torch.uint8, device=x.device))
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


def _classifier(weights, dropout):
    wide, _, narrow, _ = weights
    model = nn.Sequential(
        _Linear(wide.shape[1], wide.shape[0]),
        nn.Sequential(nn.ReLU(), nn.Dropout(dropout), _Functional(dropout)),
        _Linear(narrow.shape[1], narrow.shape[0]),
    )
    with torch.no_grad():
        for mine, given in zip(model.parameters(), weights, strict=True):
            mine.copy_(given)
    return model
