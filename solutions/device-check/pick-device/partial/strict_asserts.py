# Refuses with an assert: another class than was promised, and gone under `python -O`.
# caught-by: test_strict_refuses_what_is_not_there
import torch


def _count(kind):
    if kind == "cpu":
        return 1 << 10
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return torch.accelerator.device_count() if accelerator and accelerator.type == kind else 0


def pick_device(prefer=None, *, strict=False):
    if prefer is not None:
        wanted = torch.device(prefer)
        there = (wanted.index or 0) < _count(wanted.type)
        assert there or not strict, f"no {wanted}"
        if there:
            return wanted
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
