# An index too high on the right kind of machine gives the CPU, though the devices below it are idle.
# caught-by: test_an_index_too_high_falls_back
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return accelerator
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    there = wanted.type == accelerator.type
    if there and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return torch.device("cpu") if there else accelerator
