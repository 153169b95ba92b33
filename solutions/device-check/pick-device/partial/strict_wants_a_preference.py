# Reads strict as "an accelerator or nothing": where nothing is preferred, or the CPU is, it refuses all the same.
# caught-by: test_strict_refuses_nothing_else
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None and strict:
        raise RuntimeError("no accelerator on this machine")
    fallback = accelerator or torch.device("cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if wanted.type == "cpu" or (
        wanted.type == fallback.type and (wanted.index or 0) < torch.accelerator.device_count()
    ):
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback
