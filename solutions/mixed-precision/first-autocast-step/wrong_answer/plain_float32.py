# No mixed precision at all: nothing is gained, and nothing shows it but the clock.
# caught-by: test_linear_layers_run_in_half
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    return F.cross_entropy(model(x), y)
