# Sums over the batch: the loss and the gradients are larger by the size of the batch.
# caught-by: test_loss_and_gradients_are_right, test_float32_is_the_plain_path
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    kind = torch.device(device).type
    enabled = dtype != torch.float32 and torch.amp.is_autocast_available(kind)
    with torch.autocast(kind if enabled else "cpu", dtype=dtype, enabled=enabled):
        return F.cross_entropy(model(x), y, reduction="sum")
