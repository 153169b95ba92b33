# Forgets that current_accelerator() is None where there is none: right on a GPU node, an AttributeError in CI.
# caught-by: test_no_accelerator_gives_the_cpu, test_a_missing_preference_falls_back
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    wanted = torch.device(accelerator.type if prefer is None else prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
