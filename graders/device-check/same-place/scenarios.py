"""Asks whether pairs of devices are the same place, in both orders."""

import torch
from torch import nn


def pairs(candidate, _device, _probe, *, given):
    """What is said of pairs of texts and devices."""
    return [_both_ways(candidate, *pair) for pair in given]


def names(candidate, _device, probe, *, given):
    """What is said, or raised, for pairs of which one may be wrong."""
    return [probe.attempt(candidate.same_place, *pair) for pair in given]


def tensors(candidate, device, _probe, *, shape):
    """Tensors on the CPU, on meta and on the job's device, which is the current one, beside each other and names."""
    _make_current(device)
    near, nowhere = torch.ones(shape), torch.ones(shape, device="meta")
    here, weight = torch.ones(shape, device=device), nn.Parameter(torch.ones(shape, device=device))
    given = {
        "on the CPU, and its name": (near, "cpu"),
        "on the CPU, and its device": (near, torch.device("cpu")),
        "both on the CPU": (near, torch.zeros(shape)),
        "on meta, and its name": (nowhere, "meta"),
        "both on the job's device": (here, weight),
        "on the job's device, and its kind": (weight, device.type),
        "on the job's device, and its name": (here, device),
        "on the CPU and on meta": (near, nowhere),
        "on the CPU, and meta's name": (near, "meta"),
        "on the job's device and on meta": (weight, nowhere),
        "on the CPU and on the job's device": (near, here),
        "on the job's device, and the CPU's name": (here, "cpu"),
    }
    return {name: _both_ways(candidate, *pair) for name, pair in given.items()}


def indices(candidate, device, _probe, *, further):
    """Ints beside names: the index of the job's device, which is the current one, and a higher one."""
    _make_current(device)
    mine = device.index or 0
    given = {
        "my index, my name": (mine, f"{device.type}:{mine}"),
        "my index, my kind": (mine, device.type),
        "my index twice": (mine, mine),
        "another index, its name": (mine + further, f"{device.type}:{mine + further}"),
        "my index, another name": (mine, f"{device.type}:{mine + further}"),
        "another index, my name": (mine + further, f"{device.type}:{mine}"),
        "another index, my kind": (mine + further, device.type),
        "both indices": (mine, mine + further),
        "my index, the CPU": (mine, "cpu"),
    }
    return {name: _both_ways(candidate, *pair) for name, pair in given.items()}


def switched(candidate, device, _probe, *, turns):
    """Labels with and without an index, while one accelerator of two is the current one and then the other.

    Of each turn `[current, pairs]`: the current one, and of each pair the two labels and their forms.
    """
    labels = _labels(device)
    told = []
    for current, asked in turns:
        torch.accelerator.set_device_index(torch.device(labels[current]).index)
        told.append([_both_ways(candidate, *(_form(labels[name], form) for name, form in pair)) for pair in asked])
    return told


def with_a_default(candidate, device, _probe, *, current, default):
    """The label without an index and each of the two with one, where new tensors go to another than the current one."""
    labels = _labels(device)
    torch.accelerator.set_device_index(torch.device(labels[current]).index)
    torch.set_default_device(labels[default])
    return {name: _both_ways(candidate, labels["bare"], labels[name]) for name in ("first", "second")}


def traceless(candidate, device, probe, *, shape):
    """What is made, moved or made current by questions with and without tensors, on the job's device."""
    _make_current(device)
    here, near = torch.ones(shape, device=device), torch.ones(shape)
    before = torch.accelerator.current_device_index()
    with probe.watch():
        for pair in ((device.type, device), (here, device.type), (here, near), (near, "cpu"), (device.type, "cpu")):
            candidate.same_place(*pair)
    return {"before": before, "after": torch.accelerator.current_device_index()}


def _both_ways(candidate, a, b):
    return [candidate.same_place(a, b), candidate.same_place(b, a)]


def _make_current(device):
    if device.type != "cpu":
        torch.accelerator.set_device_index(device.index or 0)


def _labels(device):
    """The job's device, the one after it, and the kind alone."""
    first = device.index or 0
    second = (first + 1) % torch.accelerator.device_count()
    return {"bare": device.type, "first": f"{device.type}:{first}", "second": f"{device.type}:{second}"}


def _form(label, form):
    """The labelled place as a text, a torch.device, the index of one or a tensor that is there."""
    if form == "tensor":
        return torch.ones(2, device=label)
    device = torch.device(label)
    return {"text": label, "device": device, "int": device.index}[form]
