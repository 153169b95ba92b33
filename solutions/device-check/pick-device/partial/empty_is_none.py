# "Is anything preferred?" is asked with `not`: an empty text is taken for nothing.
# caught-by: test_a_wrong_name_is_an_error
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if not prefer:
        return accelerator
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    if wanted.type == accelerator.type and (wanted.index or 0) < torch.accelerator.device_count():
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return accelerator
