# Leaves the refusal to torch: a build without CUDA complains with an AssertionError, not a RuntimeError.
# caught-by: test_strict_refuses_what_is_not_there
import torch


def pick_device(prefer=None, *, strict=False):
    fallback = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if strict:
        return torch.empty(1, device=wanted).device
    try:
        torch.empty(1, device=wanted)
    except (RuntimeError, AssertionError):
        return fallback
    return wanted
