# The proof is in the making: a device is usable if a tensor can be made there. Slower, and it starts the driver.
import torch


class DeviceUnusable(RuntimeError):
    pass


def _works(device):
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError):  # "not compiled with CUDA" is an AssertionError
        return False
    return True


def pick_device(prefer=None, *, strict=False):
    order = [torch.device(kind) for kind in ("cuda", "xpu", "mps", "cpu")]
    if prefer is not None:
        order.insert(0, torch.device(prefer))
        if strict and not _works(order[0]):
            raise DeviceUnusable(str(order[0]))
    return next(device for device in order if _works(device))
