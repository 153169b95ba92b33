# Builds the answer from the type, so that whoever asks for the second GPU gets the first.
# caught-by: test_a_usable_preference_is_kept, test_strict_refuses_nothing_else
import torch


def pick_device(prefer=None, *, strict=False):
    fallback = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if wanted.type in ("cpu", fallback.type) and (wanted.index or 0) < max(1, torch.accelerator.device_count()):
        return torch.device(wanted.type)
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback
