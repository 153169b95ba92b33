# Takes the device apart as a text: a torch.device has no split.
# caught-by: test_every_spelling_of_the_device
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = device.split(":")[0]
    enabled = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    with torch.autocast(kind if enabled else "cpu", dtype=dtype, enabled=enabled):
        return F.cross_entropy(model(x), y)
