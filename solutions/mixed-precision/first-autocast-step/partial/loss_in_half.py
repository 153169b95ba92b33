# Leaves autocast before the loss: cross-entropy of half-precision logits is a half-precision number.
# caught-by: test_loss_is_a_float32_scalar, test_loss_and_gradients_are_right
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    enabled = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    with torch.autocast(kind if enabled else "cpu", dtype=dtype, enabled=enabled):
        logits = model(x)
    return F.cross_entropy(logits, y)
