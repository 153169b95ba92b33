# The CPU never fails.
# caught-by: test_every_kind_of_accelerator_is_found
import torch


def pick_device(prefer=None, *, strict=False):
    wanted = torch.device("cpu" if prefer is None else prefer)
    if strict and wanted.type != "cpu":
        raise RuntimeError(f"no {wanted}")
    return torch.device("cpu")
