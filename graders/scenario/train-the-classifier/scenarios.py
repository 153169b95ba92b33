"""Has a small classifier trained, and notes each call of it: which rows, what was in memory, and how it ended."""

import contextlib
import gc
import tempfile
import time
import weakref
from pathlib import Path

import torch
from torch import nn

#: So many calls are made by no right answer to any of the tasks.
_MANY = 300
#: Milliseconds that all calls of a training together wait for threads of autograd.
_PATIENCE = 500


def fit(candidate, device, probe, *, training, rooms, **given):
    """One training, with a model that comes in this mode and a memory of so many `rooms`."""
    ledger = _Ledger(rooms)
    model, told, path, rounds = _fit(candidate, device, probe, ledger, training, given)
    return {
        "rounds": rounds,
        "told": told,
        "calls": ledger.told(),
        "model": [each.detach() for each in model.state_dict().values()],
        "modes": [each.training for each in model.modules()],
        "saved": _loaded(probe, path),
    }


def fit_in_vain(candidate, device, probe, *, cases, **given):
    """Trainings that cannot go on, each with a memory of its own `rooms`, or with an `error`."""
    return {"cases": [_fit_in_vain(candidate, device, probe, _Ledger(**case), given) for case in cases]}


def _fit_in_vain(candidate, device, probe, ledger, given):
    try:
        told = probe.attempt(_fit, candidate, device, probe, ledger, True, given)
    except _Enough:
        return {"endless": True, "calls": ledger.told()}
    return {"raised": told.get("raised"), "message": told.get("message"), "calls": ledger.told()}


def fit_large(candidate, device, probe, *, rows, batches, kept):
    """Images of 4 MiB each, in a model that saves so many bytes for each row until its backward pass."""
    model = nn.Sequential(_Means(), _Linear(4, 3), _Large(kept), _Linear(3, 2))
    train = _Loader(_images(rows) for _ in range(batches))
    val = _Loader(_images(2) for _ in range(9))
    arguments = {"epochs": 1, "rate": 0.1, "path": _new_path()}
    told = probe.attempt(candidate.fit, model, train, val, torch.ones(2), device, **arguments)
    return {"raised": told.get("raised"), "message": told.get("message")}


def _fit(candidate, device, probe, ledger, training, given):
    given = dict(given)
    model = _Classifier(given.pop("weights"), given.pop("mask"), ledger).train(training)
    train, val = _Loader(given.pop("train")), _Loader(given.pop("val"))
    class_weights, path = given.pop("class_weights").clone(), _new_path()
    if training:  # somebody has trained it before, and not emptied the gradients
        for each in model.parameters():
            each.grad = torch.ones_like(each) if each.requires_grad else None
    with _no_garbage_collector(), probe.watch(), _late(device):
        told = candidate.fit(model, train, val, class_weights, device, **given, path=path)
    return model, told, path, [train.rounds, val.rounds]


def _late(device):
    """Where the device is virtual, copies to the CPU that do not block arrive when the CPU waits for them."""
    if device.type == "cuda":
        from proctorch import virtual

        if virtual.is_enabled():
            return virtual.delay_downloads()
    return contextlib.nullcontext()


def _new_path():
    return str(Path(tempfile.mkdtemp()) / "model.pt")


def _loaded(probe, path):
    told = probe.attempt(torch.load, path)
    loaded = told.get("returned")
    return told | {"returned": dict(loaded) if isinstance(loaded, dict) else type(loaded).__name__}


class _Loader:
    """Gives the same batches each time, made anew. `rounds` is how often it was asked for them."""

    def __init__(self, batches):
        self._batches, self.rounds = [*batches], 0

    def __len__(self):
        return len(self._batches)

    def __iter__(self):
        self.rounds += 1
        return ([images.clone(), labels.clone()] for images, labels in self._batches)


def _images(rows):
    """Little memory, until they are copied."""
    return torch.ones(1).expand(rows, 4, 512, 512), torch.arange(rows) % 2


class _Enough(BaseException):
    """Ends a training that does not end; no Exception, so that it is not taken for one of the model's."""


class _Ledger:
    """The calls of a model. `rooms`: from which call in training on, how many rows fit forward and backward.

    An error of another kind than lack of memory comes with the third call in training.
    """

    def __init__(self, rooms, error=None):
        self._rooms, self._error = rooms, error
        self._calls, self._trained = [], 0
        self._graphs = weakref.WeakSet()
        self._saved = []
        self._patience = _PATIENCE

    def begin(self, images, *, training):
        """A call of the model. Its first pixels tell which rows it got; they are read when all is over."""
        if len(self._calls) == _MANY:
            raise _Enough
        self._wait()
        self._calls.append(
            {
                "rows": images[:, 0, 0, 0].detach().clone(),
                "training": training,
                "graph": False,
                "in_use": self._in_use(),
                "graphs": len(self._graphs),
                "failed": False,
            }
        )
        self._trained += training
        if self._error == _EVALUATION and not training:
            raise torch.OutOfMemoryError

    def forward(self, graph, saved):
        """The part of a call that needs memory."""
        rows, call = len(saved), self._calls[-1]
        if self._error in _ERRORS and self._trained == 3:
            wrong = _ERRORS[self._error]()
            raise wrong
        self._fit(call, rows, self._room()[1])
        self._graphs.add(graph)
        self._saved.append(weakref.ref(saved.untyped_storage()))
        return call

    def backward(self, call, rows):
        """The same in its backward pass."""
        self._fit(call, rows, self._room()[2])

    def end(self, logits):
        self._calls[-1]["graph"] = logits.requires_grad

    def told(self):
        return [call | {"rows": call["rows"].cpu()} for call in self._calls]

    def _room(self):
        return [each for each in self._rooms if each[0] < self._trained][-1]

    def _fit(self, call, rows, room):
        if rows > room:
            call["failed"] = True
            raise torch.OutOfMemoryError(f"Tried to allocate {rows}.00 GiB.")

    def _in_use(self):
        return sum(each() is not None for each in self._saved)

    def _wait(self):
        """A thread of autograd may need a moment to let go of a backward pass that has failed."""
        while self._patience and self._in_use():
            self._patience -= 1
            time.sleep(0.001)


_ERRORS = {
    "a wrong shape": lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x8 and 16x4)"),
    "a wrong value": lambda: ValueError("a label is out of range"),
    "a lack of memory in the driver": lambda: RuntimeError("CUDA error: out of memory"),
    "a lack of memory on the host": lambda: MemoryError("out of memory"),
    "a missing key": lambda: KeyError("mask"),
}
#: The first call in evaluation runs out of memory.
_EVALUATION = "a lack of memory in evaluation"


class _Graph:
    """Lives as long as the graph that it was made for."""


class _Saves(torch.autograd.Function):
    """Passes on what it gets, with a saved tensor and a mark in the graph."""

    @staticmethod
    def forward(ctx, x, ledger):
        ctx.ledger, ctx.graph, ctx.rows = ledger, _Graph(), len(x)
        saved = torch.empty(len(x), 4, device=x.device)
        ctx.call = ledger.forward(ctx.graph, saved)
        ctx.save_for_backward(saved)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        ctx.ledger.backward(ctx.call, ctx.rows)
        return grad, None


class _SavesMuch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, size):
        ctx.save_for_backward(torch.empty(len(x), size, dtype=torch.uint8, device=x.device))
        return x.clone()

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


class _Needs(nn.Module):
    """Notes in training what is saved; in evaluation it is idle."""

    def __init__(self, ledger):
        super().__init__()
        self._ledger = ledger

    def forward(self, x):
        return _Saves.apply(x, self._ledger) if self.training else x


class _Large(nn.Module):
    def __init__(self, size):
        super().__init__()
        self._size = size

    def forward(self, x):
        return _SavesMuch.apply(x, self._size) if torch.is_grad_enabled() else x


class _Means(nn.Module):
    def forward(self, images):
        return images.mean((2, 3))


class _Linear(nn.Linear):
    """Without a matmul, whose workspace on a GPU would be taken out of the budget."""

    def forward(self, x):
        return (x.unsqueeze(1) * self.weight).sum(2) + self.bias


class _Gate(nn.Module):
    """A dropout that drops the same features each time."""

    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask.clone())

    def forward(self, x):
        return x * self.mask if self.training else x


class _Classifier(nn.Module):
    """Its first bias is frozen."""

    def __init__(self, weights, mask, ledger):
        super().__init__()
        wide, _, narrow, _ = weights
        self.wide = nn.Linear(wide.shape[1], wide.shape[0])
        self.gate = _Gate(mask)
        self.needs = _Needs(ledger)
        self.narrow = nn.Linear(narrow.shape[1], narrow.shape[0])
        self._ledger = ledger
        with torch.no_grad():
            for parameter, given in zip(self.parameters(), weights, strict=True):
                parameter.copy_(given)
        self.wide.bias.requires_grad_(False)

    def forward(self, images):
        self._ledger.begin(images, training=self.training)
        logits = self.narrow(self.needs(self.gate(torch.tanh(self.wide(images.flatten(1))))))
        self._ledger.end(logits)
        return logits


@contextlib.contextmanager
def _no_garbage_collector():
    """What is let go is let go at once, or not at all: no luck with the time at which cycles are looked for."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
