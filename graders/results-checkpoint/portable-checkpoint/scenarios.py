"""Saves and loads checkpoints: round trips, files from a GPU that is not here, files that are damaged or hostile."""

import contextlib
import sys
import tempfile
import unittest.mock
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss


def round_trip(candidate, device, _probe, *, state, batches, rate, step):
    """Saves before and after some training, changes the model, and loads the file into a fresh one."""
    path = _folder() / "model.pt"
    model, optimizer = _trainer(state, device, rate)
    candidate.save_ckpt(path, model, optimizer, 0)
    _train(model, optimizer, batches)
    saved = _copy(model.state_dict())
    candidate.save_ckpt(path, model, optimizer, step)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(1.0)
    fresh, other = _trainer({key: torch.zeros_like(value) for key, value in state.items()}, device, rate)
    returned = candidate.load_ckpt(path, fresh, other)
    return {"saved": saved, "loaded": dict(fresh.state_dict()), "step": returned}


def saved_file(candidate, device, probe, *, state, batches, rate, step):
    """What the default loader finds in a file that was saved, and how many files there are."""
    path = _folder() / "model.pt"
    model, optimizer = _trainer(state, device, rate)
    _train(model, optimizer, batches)
    candidate.save_ckpt(path, model, optimizer, step)
    files = len([*path.parent.iterdir()])
    return probe.attempt(_default_load, path) | {"model": _copy(model.state_dict()), "files": files}


def save_beside_a_live_model(candidate, device, _probe, *, state, batches, rate, step):
    """What saving does to the model that it is given."""
    model, optimizer = _trainer(state, device, rate)
    _train(model, optimizer, batches)
    model[0].eval()
    tensors = [*model.parameters(), *model.buffers()]
    before = [(str(each.device), each.dtype, each.requires_grad) for each in tensors], _copy(model.state_dict())
    gradients = [each.grad for each in model.parameters()]
    held = [each.clone() for each in gradients]
    with _moves(model) as moved:
        candidate.save_ckpt(_folder() / "model.pt", model, optimizer, step)
    now = [*model.parameters(), *model.buffers()]
    return {
        "moved": len(moved) > 0,
        "same_tensors": len(now) == len(tensors) and all(a is b for a, b in zip(now, tensors, strict=True)),
        "same_gradients": all(a.grad is b for a, b in zip(model.parameters(), gradients, strict=False)),
        "gradients": [held, gradients],
        "before": before,
        "after": ([(str(each.device), each.dtype, each.requires_grad) for each in now], dict(model.state_dict())),
        "modes": [each.training for each in model],
    }


def resume(candidate, device, _probe, *, state, batches, rate, betas):
    """Loads one file into two trainers with other options; the first is far ahead when the second starts."""
    path = _folder() / "model.pt"
    model, optimizer = _trainer(state, device, rate, betas)
    _train(model, optimizer, batches[:-1])
    candidate.save_ckpt(path, model, optimizer, len(batches))
    told = []
    for _ in range(2):
        twin, other = _trainer(state, device, 10 * rate)
        candidate.load_ckpt(path, twin, other)
        _train(twin, other, batches[-1:])
        told.append(_copy(twin.state_dict()))
        _train(twin, other, batches)
    return told


def file_from_a_gpu(candidate, device, _probe, *, state, batches, rate, step):
    """Loads a file whose tensors were saved on a GPU that this machine has not."""
    model, optimizer = _trainer(state, torch.device("cpu"), rate)
    _train(model, optimizer, batches)
    path = _folder() / "gpu.pt"
    _write_as_if_on("cuda:63", path, _content(model, optimizer, step))
    saved = _copy(model.state_dict())
    fresh, other = _trainer(state, device, rate)
    returned = candidate.load_ckpt(path, fresh, other)
    moments = [each[name] for each in other.state.values() for name in ("exp_avg", "exp_avg_sq") if name in each]
    return {"saved": saved, "loaded": dict(fresh.state_dict()), "moments": moments, "step": returned}


def booby_trap(candidate, device, probe, *, state, batches, rate):
    """Loads a file that runs code when it is unpickled without care."""
    model, optimizer = _trainer(state, device, rate)
    _train(model, optimizer, batches)
    path = _folder() / "gift.pt"
    torch.save(_content(model, optimizer, _Trap()), path)
    sys.proctorch_trap_sprung = False
    told = probe.attempt(candidate.load_ckpt, path, *_trainer(state, device, rate))
    return told | {"sprung": sys.proctorch_trap_sprung}


def faulty_files(candidate, device, probe, *, state, batches, rate):
    """Loads files that lack something, have what does not fit, are empty or cut off, or are not there."""
    model, optimizer = _trainer(state, device, rate)
    _train(model, optimizer, batches)
    told = {}
    for fault, spoil in _FAULTS.items():
        path, content = _folder() / "faulty.pt", _content(model, optimizer, 7)
        spoil(content)
        if fault != "there is no file":
            torch.save(content, path)
        if fault == "the file is empty":
            path.write_bytes(b"")
        if fault == "the file is cut off":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        told[fault] = probe.attempt(candidate.load_ckpt, path, *_trainer(state, device, rate))
    return told


_FAULTS = {
    "a parameter is missing": lambda content: content["model"].pop("2.weight"),
    "a buffer is missing": lambda content: content["model"].pop("1.running_mean"),
    "a parameter is too many": lambda content: content["model"].update({"3.weight": torch.ones(1)}),
    "a parameter has another shape": lambda content: content["model"].update({"2.bias": torch.ones(1)}),
    "a parameter of the optimizer is missing": lambda content: content["optimizer"]["param_groups"][0]["params"].pop(),
    "the optimizer is missing": lambda content: content.pop("optimizer"),
    "the model is missing": lambda content: content.pop("model"),
    "the step is missing": lambda content: content.pop("step"),
    "the file is empty": lambda _: None,
    "the file is cut off": lambda _: None,
    "there is no file": lambda _: None,
}


class _Trap:
    def __reduce__(self):
        return exec, ("import sys; sys.proctorch_trap_sprung = True",)


def _folder():
    return Path(tempfile.mkdtemp())


def _trainer(state, device, rate, betas=(0.9, 0.999)):
    """A network with the given parameters and buffers and one that is not saved, and an optimizer for it."""
    hidden, features = state["0.weight"].shape
    model = nn.Sequential(
        nn.Linear(features, hidden, bias=False), nn.BatchNorm1d(hidden), nn.Linear(hidden, state["2.weight"].shape[0])
    )
    model.load_state_dict(state)
    model.register_buffer("scratch", torch.zeros(hidden), persistent=False)
    model.to(device)
    return model, torch.optim.Adam(model.parameters(), lr=rate, betas=tuple(betas))


def _train(model, optimizer, batches):
    for x, y in batches:
        device = next(model.parameters()).device
        optimizer.zero_grad()
        mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()


def _copy(state):
    return {key: value.detach().clone() for key, value in state.items()}


def _content(model, optimizer, step):
    """What a file in the agreed format holds."""
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}


def _write_as_if_on(device, path, content):
    """Marks each tensor in the file as having been on a device, as a machine that has it would."""
    with unittest.mock.patch("torch.serialization.location_tag", return_value=device):
        torch.save(content, path)


def _default_load(path):
    """The content of a file as plain dicts."""
    return _plain(torch.load(path, map_location="cpu", weights_only=True))


def _plain(value):
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, dict) else value


@contextlib.contextmanager
def _moves(model):
    """Notes each time that the model, or a part of it, is asked to move or to cast itself."""
    parts, moved, apply = [*model.modules()], [], nn.Module._apply  # noqa: SLF001 - all moves go through it

    def noting(self, *args, **kwargs):
        if any(self is part for part in parts):
            moved.append(self)
        return apply(self, *args, **kwargs)

    with unittest.mock.patch.object(nn.Module, "_apply", noting):
        yield moved
