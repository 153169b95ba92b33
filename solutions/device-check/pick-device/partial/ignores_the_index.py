# Looks at the kind of device alone: "cuda:7" passes on a machine with one GPU.
# caught-by: test_an_index_too_high_falls_back, test_strict_refuses_what_is_not_there
import torch


def pick_device(prefer=None, *, strict=False):
    fallback = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    wanted = fallback if prefer is None else torch.device(prefer)
    if wanted.type in ("cpu", fallback.type):
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback
