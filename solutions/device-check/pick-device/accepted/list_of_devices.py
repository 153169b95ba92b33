# Lists what is there, best first, and looks the preference up.
import torch


def devices():
    found = [torch.device("cpu"), torch.device("cpu", 0)]
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator().type
        indices = range(torch.accelerator.device_count())
        return [torch.device(kind), *(torch.device(kind, index) for index in indices), *found]
    return found


def pick_device(prefer=None, *, strict=False):
    there = devices()
    best, *_ = there
    if prefer is None:
        return best
    device = torch.device(prefer)
    if device in there:
        return device
    if strict:
        raise RuntimeError(f"{device} is not there")
    return best
