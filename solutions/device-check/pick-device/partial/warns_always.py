# Warns that it runs on the CPU though nothing else was asked for: CI with warnings as errors goes red.
# caught-by: test_no_accelerator_gives_the_cpu
import warnings

import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        warnings.warn("no accelerator found, running on the CPU")
        accelerator = torch.device("cpu")
    if prefer is None:
        return accelerator
    wanted = torch.device(prefer)
    if wanted.type in ("cpu", accelerator.type) and (wanted.index or 0) < max(1, torch.accelerator.device_count()):
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
