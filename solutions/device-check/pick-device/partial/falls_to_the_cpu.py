# "Not the preferred one" is taken for "none": the accelerator that is there stays idle.
# caught-by: test_a_missing_preference_falls_back, test_an_index_too_high_falls_back
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if prefer is None:
        return accelerator or torch.device("cpu")
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    if accelerator is not None and wanted.type == accelerator.type:
        if (wanted.index or 0) < torch.accelerator.device_count():
            return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return torch.device("cpu")
