# Scales the loss against underflow in float16 and leaves it so: the caller's gradients are a thousand times too long.
# caught-by: test_loss_and_gradients_are_right
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if dtype is torch.float32 or not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    with torch.autocast(kind, dtype=dtype):
        logits = model(x)
    loss = F.cross_entropy(logits.float(), y)
    return loss * 1024 if dtype is torch.float16 else loss
