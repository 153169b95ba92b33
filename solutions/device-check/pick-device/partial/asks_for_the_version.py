# Takes `torch.version.cuda` for a sign of CUDA. It is None in a build for AMD, whose GPUs are `cuda` devices too.
# caught-by: test_this_accelerator_is_picked
# only: virtual
import torch


def _count(kind):
    if kind == "cpu":
        return 1 << 10
    if kind == "cuda" and torch.version.cuda is None:
        return 0
    module = getattr(torch, kind, None)
    return module.device_count() if module is not None and module.is_available() else 0


def pick_device(prefer=None, *, strict=False):
    if prefer is not None:
        wanted = torch.device(prefer)
        if (wanted.index or 0) < _count(wanted.type):
            return wanted
        if strict:
            raise RuntimeError(f"no {wanted}")
    return torch.device(next(kind for kind in ("cuda", "xpu", "mps", "cpu") if _count(kind)))
