# Free is what torch's cache leaves in this process. Its context has memory too, and so have other programs.
# caught-by: test_free_is_what_nobody_has
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
        device = torch.device(torch.accelerator.current_accelerator().type, index)
        total = torch.accelerator.get_memory_info(index)[1]
        rows.append(_row(device, total - torch.accelerator.memory_reserved(index), total))
    return rows
