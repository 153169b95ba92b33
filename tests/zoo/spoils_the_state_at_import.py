# Changes torch's defaults at import; is right all the same.
import torch

torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
torch.set_grad_enabled(False)


def double(x):
    factor = torch.tensor(2.0)
    assert factor.dtype is torch.float32
    assert factor.device.type == "cpu"
    assert torch.is_grad_enabled()
    return x * factor
