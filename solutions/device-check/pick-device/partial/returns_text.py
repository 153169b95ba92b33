# Returns a text: `.type` and `.index` are not there, and "cuda" == torch.device("cuda") is False.
# caught-by: test_no_accelerator_gives_the_cpu, test_every_kind_of_accelerator_is_found, test_a_usable_preference_is_kept
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    fallback = accelerator.type if accelerator else "cpu"
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if wanted.type in ("cpu", fallback) and (wanted.index or 0) < max(1, torch.accelerator.device_count()):
        return str(wanted)
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback
