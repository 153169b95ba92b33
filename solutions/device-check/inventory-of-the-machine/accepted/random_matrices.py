# Random matrices from a generator of their own; memory from each backend's own module; autocast is entered.
import torch


class Trial:
    """Swallows a refusal. `works`: there was none."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.works = kind is None
        return isinstance(error, (TypeError, RuntimeError)) and not isinstance(error, torch.OutOfMemoryError)


def devices():
    yield torch.device("cpu")
    for kind in ("cuda", "xpu", "mps"):
        backend = torch.get_device_module(kind)
        if backend.is_available():
            yield from (torch.device(kind, index) for index in range(backend.device_count()))


def multiplies(device, dtype):
    with Trial() as trial:
        matrix = torch.randn(3, 3, generator=torch.Generator(device), device=device, dtype=dtype)
        matrix @ matrix
    return trial.works


def autocasts(device):
    with Trial() as trial, torch.autocast(device.type):
        pass
    return trial.works


def inventory():
    rows = []
    for device in devices():
        backend = torch.get_device_module(device.type)
        free, total = backend.mem_get_info(device.index) if hasattr(backend, "mem_get_info") else (None, None)
        dtypes = {}
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
            dtypes[str(dtype).removeprefix("torch.")] = multiplies(device, dtype)
        rows.append(dict(device=str(device), total=total, free=free, dtypes=dtypes, autocast=autocasts(device)))
    return rows
