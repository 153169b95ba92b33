# An index too high is cut down to the last one. Whoever prefers what is not there gets what nobody asked for.
# caught-by: test_an_index_too_high_falls_back
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return accelerator
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    if wanted.type == accelerator.type:
        return torch.device(wanted.type, torch.accelerator.device_count() - 1)
    return accelerator
