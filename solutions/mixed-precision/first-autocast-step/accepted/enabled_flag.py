# One block for all cases: `enabled` switches it off, and only the model runs in it. The logits are cast by hand.
import torch
from torch import nn


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    usable = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    # Even switched off, autocast refuses a kind of device that it does not know.
    with torch.autocast(kind if usable else "cpu", dtype=dtype, enabled=usable):
        logits = model(x)
    return nn.CrossEntropyLoss()(logits.float(), y)
