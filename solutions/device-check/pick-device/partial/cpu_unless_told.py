# Uses an accelerator only if it is asked for by name: on the GPU node the script runs on the CPU, and is slow.
# caught-by: test_this_accelerator_is_picked
import torch


def pick_device(prefer=None, *, strict=False):
    if prefer is None:
        return torch.device("cpu")
    wanted = torch.device(prefer)
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if wanted.type == "cpu":
        return wanted
    if accelerator is not None and wanted.type == accelerator.type:
        if (wanted.index or 0) < torch.accelerator.device_count():
            return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator or torch.device("cpu")
