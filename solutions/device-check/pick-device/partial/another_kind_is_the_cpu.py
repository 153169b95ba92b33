# Who asks for CUDA on an Intel machine gets the CPU: the accelerator that is there is not thought of.
# caught-by: test_a_missing_preference_falls_back
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
    return accelerator if there else torch.device("cpu")
