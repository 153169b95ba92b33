# Enters and leaves by hand: when the model raises, nobody leaves, and the rest of the process runs under autocast.
# caught-by: test_autocast_ends_with_the_call
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if dtype == torch.float32 or not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    context = torch.autocast(kind, dtype=dtype)
    context.__enter__()
    loss = F.cross_entropy(model(x), y)
    context.__exit__(None, None, None)
    return loss
