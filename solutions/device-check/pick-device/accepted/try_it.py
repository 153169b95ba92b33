# The proof is in the making: a device is usable if a tensor can be made there. Slower, and it starts the driver.
import contextlib

import torch


class DeviceUnusable(RuntimeError):
    pass


def _works(device):
    with contextlib.suppress(RuntimeError, AssertionError):  # "not compiled with CUDA" is an AssertionError
        torch.empty((), device=device)
        return True
    return False


def pick_device(prefer=None, *, strict=False):
    order = ["cuda", "xpu", "mps", "cpu"]
    if prefer is not None:
        wanted = torch.device(prefer)
        if strict and not _works(wanted):
            raise DeviceUnusable(wanted)
        order = [wanted, *order]
    return next(torch.device(device) for device in order if _works(device))
