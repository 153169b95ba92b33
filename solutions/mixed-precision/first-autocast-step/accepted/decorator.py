# As a decorator: autocast is on for as long as the decorated function runs, whatever way it ends.
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    def compute():
        return F.cross_entropy(model(x), y)

    kind = torch.device(device).type
    if dtype in (torch.float16, torch.bfloat16) and torch.amp.is_autocast_available(kind):
        compute = torch.autocast(kind, dtype)(compute)
    return compute()
