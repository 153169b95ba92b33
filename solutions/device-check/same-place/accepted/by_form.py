# One rule for each form, which ends in a kind and an index; the index is looked up by the backend's own module.
import functools

import torch

ONE_OF_A_KIND = {"cpu", "meta"}


@functools.singledispatch
def label(place):
    return torch.device(place)


@label.register
def _(place: torch.Tensor):
    return place.device


def index(device):
    if device.index is None:
        return torch.get_device_module(device.type).current_device()
    return device.index


def same_place(a, b):
    a, b = label(a), label(b)
    return a.type == b.type and (a.type in ONE_OF_A_KIND or index(a) == index(b))
