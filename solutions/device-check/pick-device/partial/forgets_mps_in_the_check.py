# Counts the devices of CUDA and Intel; that a preferred mps is there, it does not know.
# caught-by: test_strict_refuses_nothing_else
import torch


def there(device):
    counts = {"cpu": 1 + (device.index or 0), "cuda": torch.cuda.device_count(), "xpu": torch.xpu.device_count()}
    return (device.index or 0) < counts.get(device.type, 0)


def pick_device(prefer=None, *, strict=False):
    if prefer is not None:
        device = torch.device(prefer)
        if there(device):
            return device
        if strict:
            raise RuntimeError(f"{device} is not there")
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
