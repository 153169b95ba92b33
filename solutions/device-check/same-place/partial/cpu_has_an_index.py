# Fills in the index of accelerators, and lets the CPU's differ.
# caught-by: test_the_cpu_is_one_place
import torch


def full(place):
    device = place.device if isinstance(place, torch.Tensor) else torch.device(place)
    if device.index is None and device.type not in ("cpu", "meta") and torch.accelerator.is_available():
        return torch.device(device.type, torch.accelerator.current_device_index())
    return device


def same_place(a, b):
    return full(a) == full(b)
