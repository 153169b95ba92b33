# Casts the batch and leaves the weights: a float32 layer does not multiply half-precision inputs.
# caught-by: test_linear_layers_run_in_half
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    return F.cross_entropy(model(x.to(dtype)).float(), y)
