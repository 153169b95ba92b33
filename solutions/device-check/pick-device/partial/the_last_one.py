# Takes the last GPU, since the first one is busy as a rule. The current one was asked for.
# caught-by: test_every_kind_of_accelerator_is_found
import torch


def pick_device(prefer=None, *, strict=False):
    if prefer is not None:
        accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
        wanted = torch.device(prefer)
        if wanted.type == "cpu":
            return wanted
        if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
            return wanted
        if strict:
            raise RuntimeError(f"no {wanted}")
        return accelerator
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator().type
        return torch.device(kind, torch.accelerator.device_count() - 1)
    return torch.device("cpu")
