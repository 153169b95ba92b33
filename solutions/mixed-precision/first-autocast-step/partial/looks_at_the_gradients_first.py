# Looks whether the gradients are finite before it returns: a second backward pass in each step, under autocast.
# caught-by: test_backward_is_outside_autocast
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    if dtype is torch.float32 or not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    with torch.autocast(kind, dtype=dtype):
        loss = F.cross_entropy(model(x).float(), y)
        grads = torch.autograd.grad(loss, [*model.parameters()], retain_graph=True)
        if not all(each.isfinite().all() for each in grads):
            raise FloatingPointError("the gradients are not finite")
    return loss
