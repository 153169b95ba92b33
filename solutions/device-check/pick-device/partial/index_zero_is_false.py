# "Has it an index?" is asked of the index itself, and 0 is false: "cuda:0" becomes the current device.
# caught-by: test_a_usable_preference_is_kept
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return accelerator
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return torch.device(wanted.type, wanted.index) if wanted.index else torch.device(wanted.type)
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
