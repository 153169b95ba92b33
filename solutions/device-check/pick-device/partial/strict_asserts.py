# Refuses with an assert: another class than was promised, and gone under `python -O`.
# caught-by: test_strict_refuses_what_is_not_there
import torch


def _count(kind):
    if kind == "cpu":
        return 1 << 10
    module = torch.get_device_module(kind)
    return module.device_count() if module.is_available() else 0


def pick_device(prefer=None, *, strict=False):
    if prefer is not None:
        wanted = torch.device(prefer)
        there = (wanted.index or 0) < _count(wanted.type)
        assert there or not strict, f"no {wanted}"
        if there:
            return wanted
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
