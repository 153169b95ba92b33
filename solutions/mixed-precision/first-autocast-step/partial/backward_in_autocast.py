# Does the backward itself, and with autocast on: the caller can neither scale the loss nor accumulate.
# caught-by: test_backward_is_outside_autocast
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    enabled = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    with torch.autocast(kind if enabled else "cpu", dtype=dtype, enabled=enabled):
        loss = F.cross_entropy(model(x), y)
        loss.backward(retain_graph=True)
    return loss
