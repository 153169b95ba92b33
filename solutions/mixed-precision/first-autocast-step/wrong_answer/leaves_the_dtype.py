# Leaves the dtype to autocast, which has one of its own for each kind of device.
# caught-by: test_linear_layers_run_in_half
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    enabled = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    with torch.autocast(kind if enabled else "cpu", enabled=enabled):
        return F.cross_entropy(model(x), y)
