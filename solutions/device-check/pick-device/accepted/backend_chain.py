# The chain by hand: each backend says how many devices it has, in the order of preference.
import torch


def _counts():
    return {
        "cuda": torch.cuda.device_count(),
        "xpu": torch.xpu.device_count(),
        "mps": 1 if torch.backends.mps.is_available() else 0,
        "cpu": 1,
    }


def pick_device(prefer=None, *, strict=False):
    counts = _counts()
    if prefer is not None:
        wanted = torch.device(prefer)
        if (wanted.index or 0) < counts.get(wanted.type, 0):
            return wanted
        if strict:
            raise RuntimeError(f"no {wanted} on this machine")
    return torch.device(next(kind for kind, count in counts.items() if count))
