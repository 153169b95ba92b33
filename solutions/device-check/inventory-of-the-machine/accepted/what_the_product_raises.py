# The trial says how it ended; a table of endings decides. The rows are dataclasses until the end.
import dataclasses

import torch

REFUSED = (TypeError, RuntimeError)


@dataclasses.dataclass
class Row:
    device: str
    total: int | None
    free: int | None
    autocast: bool
    dtypes: dict[str, bool]


def refusal(device, dtype):
    """The error with which torch refuses a product of two matrices, or None."""
    found = None
    try:
        matrix = torch.zeros(3, 3, device=device, dtype=dtype)
        matrix.matmul(matrix)
    except REFUSED as error:
        found = error
    return found


def check(device, name):
    error = refusal(device, getattr(torch, name))
    if type(error) is torch.OutOfMemoryError:
        raise error
    return error is None


def row(device):
    free, total = (None, None) if device == "cpu" else torch.accelerator.get_memory_info(device)
    dtypes = {name: check(device, name) for name in ("float32", "float64", "bfloat16", "float16")}
    return Row(device, total, free, torch.amp.is_autocast_available(torch.device(device).type), dtypes)


def inventory():
    kind = torch.accelerator.current_accelerator()
    names = ["cpu"] + [f"{kind}:{index}" for index in range(torch.accelerator.device_count())]
    return [dataclasses.asdict(row(name)) for name in names]
