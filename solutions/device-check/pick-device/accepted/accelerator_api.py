# One question to torch.accelerator answers for every backend; a fallback from a preference is said aloud.
import warnings

import torch


def pick_device(prefer=None, *, strict=False):
    # check_available=True asks the machine; without it only the build is asked.
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    fallback = accelerator or torch.device("cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)  # a wrong name raises here, outside any try
    if wanted.type == "cpu":
        return wanted
    if accelerator is not None and wanted.type == accelerator.type:
        if (wanted.index or 0) < torch.accelerator.device_count():
            return wanted
    if strict:
        raise RuntimeError(f"{wanted} is not usable here; there is {fallback}")
    warnings.warn(f"{wanted} is not usable here; using {fallback}")
    return fallback
