# Autocast is on, and the batch is cast all the same: what comes before the first linear layer gets rounded inputs.
# caught-by: test_loss_and_gradients_are_right
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if dtype == torch.float32 or not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    with torch.autocast(kind, dtype=dtype):
        return F.cross_entropy(model(x.to(dtype)), y)
