# Makes each accelerator the current one, and stays on the last.
# only: virtual
# caught-by: test_nothing_is_changed
import torch

DTYPES = ("float32", "float64", "bfloat16", "float16")


def _works(device, dtype):
    try:
        matrix = torch.ones(2, 2, dtype=dtype, device=device)
        torch.mm(matrix, matrix)
    except torch.OutOfMemoryError:  # a RuntimeError by class, and no word about the dtype
        raise
    except (TypeError, RuntimeError):
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
        torch.accelerator.set_device_index(index)
        device = torch.device(torch.accelerator.current_accelerator().type, index)
        rows.append(_row(device, *torch.accelerator.get_memory_info(index)))
    return rows
