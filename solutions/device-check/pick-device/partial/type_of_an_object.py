# A text is read whole; of a torch.device only the type is looked at, and its index is lost.
# caught-by: test_a_usable_preference_is_kept
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return accelerator
    wanted = torch.device(prefer.type if isinstance(prefer, torch.device) else prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
