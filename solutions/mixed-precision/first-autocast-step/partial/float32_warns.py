# Asks autocast for float32: it warns that it does not know it, once for every batch.
# only: cpu
# caught-by: test_float32_is_the_plain_path
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    with torch.autocast(kind, dtype=dtype):
        return F.cross_entropy(model(x), y)
