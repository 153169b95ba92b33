# Fills in what is missing before the kinds are compared. Where there is no GPU, whether cuda is the CPU is an error.
# caught-by: test_kinds_differ
import torch


def full(place):
    device = place.device if isinstance(place, torch.Tensor) else torch.device(place)
    if device.type in ("cpu", "meta"):
        return torch.device(device.type)
    if device.index is None:
        return torch.device(device.type, torch.get_device_module(device.type).current_device())
    return device


def same_place(a, b):
    return full(a) == full(b)
