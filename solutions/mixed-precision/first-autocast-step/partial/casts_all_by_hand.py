# Calls the model with cast weights instead of autocast: all is in half precision, not only what suits it.
# caught-by: test_loss_and_gradients_are_right
import torch
import torch.nn.functional as F
from torch.func import functional_call


def forward_loss(model, x, y, device, dtype):
    if dtype == torch.float32 or not torch.amp.is_autocast_available(torch.device(device).type):
        return F.cross_entropy(model(x), y)
    half = {name: each.to(dtype) for name, each in model.named_parameters()}
    logits = functional_call(model, half, (x.to(dtype),))
    return F.cross_entropy(logits.float(), y)
