"""Lets a perturbation be learned against a small classifier, and looks over the optimizer's shoulder."""

import torch
from torch import nn


def learn(candidate, device, probe, *, weights, images, labels, start, steps, rate, momentum):
    """On the job's device."""
    return _learn(candidate, device, probe, weights, images, labels, start, steps, rate, momentum)


def learn_on_the_cpu(candidate, _device, probe, *, weights, images, labels, start, steps, rate, momentum):
    """On the CPU, where the start is already."""
    return _learn(candidate, torch.device("cpu"), probe, weights, images, labels, start, steps, rate, momentum)


def learn_elsewhere(candidate, _device, probe, *, weights, images, labels, start, steps, rate, momentum):
    """On the meta device: a second device that every machine has, whose tensors have no values."""
    place = torch.device("meta")
    seen = _learn(candidate, place, probe, weights, images, labels, start, steps, rate, momentum)
    return seen | {"result": probe.describe(seen["result"])}


def _learn(candidate, device, probe, weights, images, labels, start, steps, rate, momentum):
    model = _classifier(weights).to(device)
    images, labels, mine = images.to(device), labels.to(device), start.clone()
    stepped = []

    def note(optimizer, *_):
        held = [each for group in optimizer.param_groups for each in group["params"]]
        stepped.append([[probe.describe(each), probe.describe(each.grad)] for each in held])

    def make_optimizer(parameters):
        optimizer = torch.optim.SGD(parameters, lr=rate, momentum=momentum)
        optimizer.register_step_post_hook(note)  # after it, since a closure computes the gradient within the step
        return optimizer

    with probe.watch():
        result = candidate.learn_perturbation(model, images, labels, mine, steps=steps, make_optimizer=make_optimizer)
    return {
        "result": result,
        "stepped": stepped,
        "start": mine.detach().clone(),
        "start_described": probe.describe(mine),
    }


class _Modal(nn.Module):
    """Does nothing in training, the mode in which the model is, and makes another function of it in evaluation."""

    def forward(self, x):
        return x if self.training else 2 * x


def _classifier(weights):
    wide, _, narrow, _ = weights
    first, last = nn.Linear(wide.shape[1], wide.shape[0]), nn.Linear(narrow.shape[1], narrow.shape[0])
    model = nn.Sequential(nn.Flatten(), _Modal(), first, nn.Tanh(), last)
    with torch.no_grad():
        for parameter, given in zip(model.parameters(), weights, strict=True):
            parameter.copy_(given)
    return model
