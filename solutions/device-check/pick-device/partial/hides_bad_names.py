# One try around everything: a misspelt name is taken for a missing device, and the run is slow for no reason to be seen.
# caught-by: test_a_wrong_name_is_an_error
import torch


def pick_device(prefer=None, *, strict=False):
    fallback = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return fallback
    try:
        device = torch.device(prefer)
        torch.empty(0, device=device)
        return device
    except Exception as error:
        if strict:
            raise RuntimeError(f"{prefer} is not usable") from error
        return fallback
