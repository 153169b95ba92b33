"""Trains a small classifier over batches that come one by one, and notes what is logged, when, and what waits."""

import contextlib
import gc
import unittest.mock
import weakref

import torch
from torch import nn


def train(candidate, device, probe, *, weights, batches, rate):
    """One training, and whatever waits in it."""
    with _waits(device) as waits, probe.watch():
        told = unwatched(candidate, device, probe, weights=weights, batches=batches, rate=rate)
    return told | {"waits": len(waits)}


def unwatched(candidate, device, _probe, *, weights, batches, rate):
    """One training. With each call of `log`, the number of steps that had begun is noted."""
    model = _Classifier(weights).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    logged = []

    def log(step, loss, accuracy):
        logged.append([step, loss, accuracy, model.begun])

    with _late(device):
        candidate.train(model, _one_by_one(batches), optimizer, device, log)
    return {
        "logged": logged,
        "begun": model.begun,
        "graphs": model.most_graphs,
        "weights": [each.detach() for each in model.parameters()],
    }


def _late(device):
    """Where the device is virtual, copies to the CPU that do not block arrive when the CPU waits for them."""
    if device.type == "cuda":
        from proctorch import virtual

        if virtual.is_enabled():
            return virtual.delay_downloads()
    return contextlib.nullcontext()


def _one_by_one(batches):
    for images, labels in batches:
        yield images.clone(), labels.clone()


@contextlib.contextmanager
def _waits(device):
    """Notes each call that lets the CPU wait for the device, for a stream or for an event."""
    calls = []

    def noting(waits):
        def synchronize(*args, **kwargs):
            calls.append(waits)
            return waits(*args, **kwargs)

        return synchronize

    names = ("_accelerator_synchronizeDevice", f"_{device.type}_synchronize", f"_{device.type}_deviceSynchronize")
    owners = [(torch._C, name) for name in names]  # noqa: SLF001 - below all names that an answer may have imported
    owners += [(getattr(getattr(torch, device.type), name, None), "synchronize") for name in ("Stream", "Event")]
    with contextlib.ExitStack() as stack:
        for owner, name in owners:
            if hasattr(owner, name):
                stack.enter_context(unittest.mock.patch.object(owner, name, noting(getattr(owner, name))))
        yield calls


class _Mark:
    """Lives as long as the graph that it was made for."""


class _Remembers(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mark):
        ctx.mark = mark
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


class _Classifier(nn.Module):
    """A network whose last input is added to the first logit, so that a batch can have a loss that is not finite.

    `begun` is how many forward passes have begun, `most_graphs` how many graphs of earlier ones were alive at once.
    """

    def __init__(self, weights):
        super().__init__()
        wide, _, narrow, _ = weights
        self.wide = nn.Linear(wide.shape[1], wide.shape[0])
        self.narrow = nn.Linear(narrow.shape[1], narrow.shape[0])
        with torch.no_grad():
            for mine, given in zip(self.parameters(), weights, strict=True):
                mine.copy_(given)
        self.begun = self.most_graphs = 0
        self._marks = weakref.WeakSet()

    def forward(self, x):
        self.begun += 1
        if len(self._marks) > self.most_graphs:
            gc.collect()  # what is only part of a cycle is not kept
            self.most_graphs = max(self.most_graphs, len(self._marks))
        mark = _Mark()
        self._marks.add(mark)
        logits = _Remembers.apply(self.narrow(torch.tanh(self.wide(x[:, :-1]))), mark)
        return torch.cat([logits[:, :1] + x[:, -1:], logits[:, 1:]], 1)
