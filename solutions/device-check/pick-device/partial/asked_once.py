# Asks at import and remembers: right until the machine, or what is visible of it, changes.
# caught-by: test_every_kind_of_accelerator_is_found, test_a_usable_preference_is_kept
import torch

_ACCELERATOR = torch.accelerator.current_accelerator(check_available=True)
_COUNT = torch.accelerator.device_count()


def pick_device(prefer=None, *, strict=False):
    fallback = _ACCELERATOR or torch.device("cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if wanted.type == "cpu" or (wanted.type == fallback.type and (wanted.index or 0) < _COUNT):
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback
