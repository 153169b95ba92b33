# Switches autocast on and never off: the caller's backward, optimizer and evaluation run under it.
# caught-by: test_backward_is_outside_autocast, test_autocast_ends_with_the_call
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if dtype != torch.float32 and torch.amp.is_autocast_available(kind):
        torch.set_autocast_dtype(kind, dtype)
        torch.set_autocast_enabled(kind, True)
    return F.cross_entropy(model(x), y)
