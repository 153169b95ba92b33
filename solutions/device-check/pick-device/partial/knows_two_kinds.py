# Where nothing is preferred, an older line of code decides, which has never met an Apple machine.
# caught-by: test_every_kind_of_accelerator_is_found
import torch


def pick_device(prefer=None, *, strict=False):
    if prefer is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("xpu" if torch.xpu.is_available() else "cpu")
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
