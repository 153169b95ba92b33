# Keeps the refusals for the log. An error holds the frames that it went through, and they hold the matrices.
# caught-by: test_nothing_stays
import torch

DTYPES = ("float32", "float64", "bfloat16", "float16")


_refusals = []


def _works(device, dtype):
    try:
        matrix = torch.ones(2, 2, dtype=dtype, device=device)
        torch.mm(matrix, matrix)
    except torch.OutOfMemoryError:  # a RuntimeError by class, and no word about the dtype
        raise
    except (TypeError, RuntimeError) as refusal:
        _refusals.append(refusal)
        return False
    return True


def _row(device, free, total):
    return {
        "device": str(device),
        "total": total,
        "free": free,
        "dtypes": {name: _works(device, getattr(torch, name)) for name in DTYPES},
        "autocast": torch.amp.is_autocast_available(device.type),
    }


def inventory():
    rows = [_row(torch.device("cpu"), None, None)]
    for index in range(torch.accelerator.device_count()):
        device = torch.device(torch.accelerator.current_accelerator().type, index)
        rows.append(_row(device, *torch.accelerator.get_memory_info(index)))
    return rows
