# str(device) is not the kind of device, and whether autocast exists there is not asked.
# caught-by: test_device_without_autocast_is_the_plain_path
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    # Newer versions read "cuda:0" as they read "cuda"; older ones raise. No version knows "meta".
    with torch.autocast(str(device), dtype=dtype, enabled=dtype != torch.float32):
        return F.cross_entropy(model(x), y)
