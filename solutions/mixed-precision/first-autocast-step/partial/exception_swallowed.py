# "Robust" training: whatever the model raises becomes a loss of zero.
# caught-by: test_autocast_ends_with_the_call
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    enabled = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    try:
        with torch.autocast(kind if enabled else "cpu", dtype=dtype, enabled=enabled):
            return F.cross_entropy(model(x), y)
    except Exception:
        return torch.zeros((), device=x.device, requires_grad=True)
