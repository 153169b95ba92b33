"""Moves a normalizer about, alone and as a part of a rig, and lets it compute wherever it is."""

import copy

import torch
from torch import nn


def compute(candidate, device, probe, *, means, stds, gain, images, dtype="float32"):
    """The images of all cameras through a normalizer that was moved to the job's device, and the gain's gradient."""
    rig = _rig(candidate, means, stds, gain).to(device).to(getattr(torch, dtype))
    given = images.to(device, getattr(torch, dtype)).mT.contiguous().mT  # the columns lie together, not the rows
    shown = given.clone()
    with torch.no_grad():
        rig(shown, 0)
    results = [rig(given.clone(), camera) for camera in range(len(means))]
    sum(each.sum() for each in results).backward()
    return {
        "results": [each.detach() for each in results],
        "described": [probe.describe(each) for each in results],
        "grad": rig.normalizer.gain.grad,
        "images_unchanged": torch.equal(given, shown),
    }


def elsewhere(candidate, _device, probe, *, means, stds, gain, images):
    """Deep copies of the rig and of its normalizer are moved to the meta device, which every machine has.

    One more copy computes on the CPU and is then cast. The original computes before and after.
    """
    rig = _rig(candidate, means, stds, gain)
    rig(images, 0)
    place = torch.device("meta")
    twins, given = [copy.deepcopy(each).to(place) for each in (rig, rig.normalizer)], images.to(place)
    with probe.watch():
        there = [[twin(given, camera) for camera in range(len(means))] for twin in twins]
    alike = copy.deepcopy(rig)
    beside = [alike(images, camera).detach() for camera in range(len(means))]
    alike.double()
    return {
        "beside": beside,
        "there": [[probe.describe(each) for each in results] for results in there],
        "here": [rig(images, camera).detach() for camera in range(len(means))],
    }


def tour(candidate, device, probe, *, means, stds, gain, images):
    """To the job's device, back to the CPU and there again, with a forward pass for each camera at each stop."""
    rig = _rig(candidate, means, stds, gain)
    rig(images, 0)
    results = []
    for stop, place in enumerate((device, torch.device("cpu"), device)):
        rig.to(place)
        given = images.to(place)
        with probe.watch(f"stop {stop}"):
            results.append([rig(given, camera).detach() for camera in range(len(means))])
    return results


def checkpoint(candidate, _device, probe, *, means, stds, gain):
    """What a new normalizer has registered, and how a checkpoint of the old code loads into it, alone and in a rig."""
    normalizer, rig = candidate.CameraNormalizer(means, stds), _Rig(candidate.CameraNormalizer(means, stds))
    keys = [[*module.state_dict()] for module in (normalizer, rig)]
    fresh = {
        name: probe.describe(each) | {"value": each.detach().clone()} for name, each in normalizer.named_parameters()
    }
    told = [probe.attempt(_load, normalizer, {"gain": gain}), probe.attempt(_load, rig, {"normalizer.gain": gain})]
    gains = [normalizer.gain.detach(), rig.normalizer.gain.detach()]
    return {"keys": keys, "parameters": fresh, "loads": told, "gains": gains}


def _load(module, state):
    module.load_state_dict(state, strict=True)


class _Rig(nn.Module):
    """A model that has a normalizer as a part."""

    def __init__(self, normalizer):
        super().__init__()
        self.normalizer = normalizer

    def forward(self, images, camera):
        return self.normalizer(images, camera)


def _rig(candidate, means, stds, gain):
    normalizer = candidate.CameraNormalizer(means, stds)
    with torch.no_grad():
        normalizer.gain.copy_(gain)
    return _Rig(normalizer)
