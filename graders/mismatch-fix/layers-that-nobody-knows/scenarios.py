"""Builds a classifier with many heads, moves it, trains it, saves it, and lets it compute wherever it is."""

import copy
import io

import torch
from torch import nn


def build(candidate, _device, probe, *, sizes, tasks):
    """What a new classifier has registered, built on the CPU and on the meta device, which every machine has."""
    return [_registered(candidate.Classifier(*sizes, tasks, place), probe) for place in (_CPU, _META)]


def compute(candidate, device, _probe, *, sizes, tasks, state, x):
    """The outputs for all tasks, on the job's device, where it was built, with the given weights."""
    model = candidate.Classifier(*sizes, tasks, device)
    _fill(model, state)
    given = x.to(device)
    return {"outputs": [_plain(model(given, task)) for task in tasks], "x": given}


def elsewhere(candidate, _device, probe, *, sizes, tasks, state, x):
    """On the meta device: one that was built there, and deep copies that were moved, alone and as a part of another.

    The original computes before and after, and a deep copy that stays computes when the original has other numbers.
    """
    model = candidate.Classifier(*sizes, tasks, _CPU)
    _fill(model, state)
    whole, given = nn.Sequential(model), x.to(_META)
    before = [_plain(model(x, task)) for task in tasks]
    twin = copy.deepcopy(model)
    moved = {
        "built there": candidate.Classifier(*sizes, tasks, _META),
        "moved": copy.deepcopy(model).to(_META),
        "moved as a part of another module": copy.deepcopy(whole).to(_META)[0],
    }
    with probe.watch():
        there = {name: [_described(each(given, task), probe) for task in tasks] for name, each in moved.items()}
    parts = {name: [str(part.device) for part in each.parameters()] for name, each in moved.items()}
    after = [_plain(model(x, task)) for task in tasks]
    _fill(model, {name: torch.zeros_like(value) for name, value in state.items()})
    apart = [_plain(twin(x, task)) for task in tasks]
    return {"there": there, "parts": parts, "before": before, "after": after, "apart": apart}


def step(candidate, device, _probe, *, sizes, tasks, state, x, rate):
    """One step of gradient descent on the squares of all outputs, over what `parameters()` gives."""
    model = candidate.Classifier(*sizes, tasks, _CPU)
    _fill(model, state)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    given = x.to(device)
    sum(each.square().sum() for task in tasks for each in model(given, task)).backward()
    optimizer.step()
    return {name: each.detach() for name, each in model.named_parameters()}


def checkpoint(candidate, device, probe, *, sizes, tasks, state, x):
    """A classifier on the job's device is saved to a file, and loaded into new ones on the CPU in two ways."""
    model = candidate.Classifier(*sizes, tasks, _CPU)
    _fill(model, state)
    model.to(device)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    given = x.to(device)
    told = {"keys": [*model.state_dict()], "own": [_plain(model(given, task)) for task in tasks]}
    for name, assign in (("copied", False), ("assigned", True)):
        twin = candidate.Classifier(*sizes, tasks, _CPU)
        for task in tasks:
            twin(x, task)
        file.seek(0)
        loaded = probe.attempt(_load, twin, torch.load(file, map_location="cpu"), assign)
        told[name] = loaded if "raised" in loaded else [_plain(twin(x, task)) for task in tasks]
    return told


def tour(candidate, device, probe, *, sizes, tasks, state, x):
    """To the job's device, back to the CPU and there again; the outputs at each stop."""
    model = candidate.Classifier(*sizes, tasks, _CPU)
    _fill(model, state)
    stops = []
    for at, place in enumerate((device, _CPU, device)):
        model.to(place)
        given = x.to(place)
        with probe.watch(f"stop {at}"):
            outputs = [model(given, task) for task in tasks]
        stops.append([_plain(each) for each in outputs])
    return stops


_CPU, _META = torch.device("cpu"), torch.device("meta")


def _registered(model, probe):
    with torch.no_grad():
        told = {name: probe.describe(each) for name, each in model.named_parameters()}
        values = {name: each for name, each in model.named_parameters() if not each.is_meta}
        return {"parameters": told, "values": values}


def _fill(model, state):
    """Gives the parameters these values, in place, as an optimizer would."""
    named = dict(model.named_parameters())
    if missing := [name for name in state if name not in named]:
        raise RuntimeError(f"there is no parameter {missing[0]}")
    with torch.no_grad():
        for name, value in state.items():
            named[name].copy_(value)


def _load(model, state, assign):
    model.load_state_dict(state, strict=True, assign=assign)


def _plain(outputs):
    return [each.detach() for each in outputs] if isinstance(outputs, list) else outputs


def _described(outputs, probe):
    return [probe.describe(each) for each in outputs] if isinstance(outputs, list) else outputs
