"""Streams batches through a small model, with copies to the CPU that arrive as late as they may.

On the virtual device a copy that does not block arrives when the CPU waits for it; on a real CUDA device the model is
so slow that it takes long. What the CPU has waited for is told by marks: a mark is set behind the work of a device, and
has passed when the CPU has waited for that work.
"""

import contextlib

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

#: Of a real CUDA device: some 50 ms.
_CYCLES = 100_000_000


def stream(candidate, device, _probe, *, weight, batches):
    """All results of one stream, as they were when they were handed over and as they are at the end."""
    kind = _kind(device)
    with _late(kind):
        model = _Slow(weight, kind).to(device)
        if kind == "real":
            _warm_up(model, batches[0])
        loader, handed, ahead = _Loader(batches), [], []
        with _Uploads(kind) as uploads:
            for result in candidate.stream(model, loader, device):
                handed.append([result, result.clone() if isinstance(result, torch.Tensor) else result])
                ahead.append(loader.taken - len(handed))
                if len(handed) > len(batches):
                    break
    return {
        "handed": [then for _, then in handed],
        "kept": [now for now, _ in handed],
        "ahead": ahead,
        "sizes": model.sizes,
        "waited": model.waited,
        "pinned": uploads.pinned,
        "overwritten": uploads.overwritten,
    }


class _Loader:
    """Gives the batches each time that it is gone through, and notes it."""

    def __init__(self, batches):
        self._batches = batches
        self.taken = 0

    def __iter__(self):
        for x in self._batches:
            self.taken += 1
            yield x.clone()


def _kind(device):
    """Whether copies are late by the virtual device's doing, by a real one's, or not at all."""
    if device.type != "cuda":
        return "never"
    from proctorch import virtual

    return "virtual" if virtual.is_enabled() else "real"


@contextlib.contextmanager
def _late(kind):
    if kind != "virtual":
        yield
        return
    from proctorch import virtual

    with virtual.delay_downloads():
        yield


class _Mark:
    """Set behind the work that the current stream has been given until now."""

    def __init__(self, kind, device):
        self._traveller = self._event = None
        if kind == "virtual":
            self._traveller = torch.zeros(1, device=device).to("cpu", non_blocking=True)
        elif kind == "real":
            self._event = torch.cuda.Event()
            self._event.record()

    def passed(self):
        """Whether the CPU has waited for that work, or for any that comes behind it."""
        if self._traveller is not None:
            return not self._traveller.isnan().any()
        return self._event is None or self._event.query()


class _Slow(nn.Module):
    """One layer; notes the rows of each call, and whether the CPU has waited for the end of the call before."""

    def __init__(self, weight, kind):
        super().__init__()
        self.weight = nn.Parameter(weight.clone(), requires_grad=False)
        self._kind = kind
        self.forget()

    def forget(self):
        """From here on, as if it had not been called before."""
        self.sizes, self.waited, self._mark = [], [], None

    def forward(self, x):
        self.sizes.append(len(x))
        if self._mark is not None:
            self.waited.append(bool(self._mark.passed()))
        if self._kind == "real":
            torch.cuda._sleep(_CYCLES)  # noqa: SLF001 - there is no public way to keep a device busy
        result = torch.tanh(nn.functional.linear(x, self.weight))
        self._mark = _Mark(self._kind, x.device)
        return result


class _Uploads(TorchDispatchMode):
    """Notes whether batches go to the device from pinned memory, and whether it is written to before they are there."""

    def __init__(self, kind):
        super().__init__()
        self.pinned = []
        self.overwritten = 0
        self._kind = kind
        self._under_way = []

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # torch would wrap the method below, and the wrapper imports the compiler, for a second

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **kwargs or {})
        name = func.name().partition(".")[0]
        source = args[1] if name == "aten::copy_" else args[0] if name == "aten::_to_copy" else None
        if isinstance(source, torch.Tensor) and source.device.type == "cpu" and result.device.type != "cpu":
            self.pinned.append(source.is_pinned())
            self._under_way.append((source, source.clone(), _Mark(self._kind, result.device)))
        self._look()
        return result

    def _look(self):
        left = []
        for source, content, mark in self._under_way:
            if mark.passed():
                continue
            if torch.equal(source, content):
                left.append((source, content, mark))
            elif source.is_pinned():
                self.overwritten += 1
        self._under_way = left


def _warm_up(model, x):
    """A device takes its time for the first call of each kernel, and for its first pinned memory."""
    blocks = [torch.empty(x.numel() * 4, pin_memory=True) for _ in range(8)]
    model(x.pin_memory().to(model.weight.device, non_blocking=True)).to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    del blocks
    model.forget()
