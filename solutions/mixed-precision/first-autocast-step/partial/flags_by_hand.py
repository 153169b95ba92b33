# Sets autocast's flags and puts them back: its cache of cast weights stays, and the next step computes with the old ones.
# caught-by: test_loss_and_gradients_are_right
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if dtype == torch.float32 or not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    before = torch.get_autocast_dtype(kind)
    torch.set_autocast_enabled(kind, True)
    torch.set_autocast_dtype(kind, dtype)
    try:
        return F.cross_entropy(model(x).float(), y)
    finally:
        torch.set_autocast_enabled(kind, False)
        torch.set_autocast_dtype(kind, before)
