# Takes the text apart itself, and lets an index that is no number go by.
# caught-by: test_a_wrong_name_is_an_error
import torch


def label(prefer):
    if isinstance(prefer, torch.device):
        return prefer
    kind, _, index = prefer.partition(":")
    return torch.device(kind, int(index)) if index.isdecimal() else torch.device(kind)


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return accelerator
    wanted = label(prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
