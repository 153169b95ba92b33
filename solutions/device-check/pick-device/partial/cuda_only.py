# Knows one accelerator: an Intel or an Apple machine computes on its CPU.
# caught-by: test_every_kind_of_accelerator_is_found
import torch


def pick_device(prefer=None, *, strict=False):
    fallback = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if wanted.type == "cpu" or (wanted.type == "cuda" and (wanted.index or 0) < torch.cuda.device_count()):
        return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback
