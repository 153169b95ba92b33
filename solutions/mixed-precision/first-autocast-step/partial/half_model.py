# Casts the model itself: small updates are lost in half-precision weights, and the caller's optimizer is left with them.
# caught-by: test_weights_and_grads_stay_float32, test_device_without_autocast_is_the_plain_path
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    model.to(dtype)
    return F.cross_entropy(model(x.to(dtype)).float(), y)
