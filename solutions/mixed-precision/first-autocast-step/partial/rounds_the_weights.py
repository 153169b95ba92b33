# Rounds the weights first, so that what is trained is what is computed with. Small updates are lost at every step.
# caught-by: test_weights_and_grads_stay_float32
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype).float()
    kind = torch.device(device).type
    if dtype is torch.float32 or not torch.amp.is_autocast_available(kind):
        return F.cross_entropy(model(x), y)
    with torch.autocast(kind, dtype=dtype):
        logits = model(x)
    return F.cross_entropy(logits.float(), y)
