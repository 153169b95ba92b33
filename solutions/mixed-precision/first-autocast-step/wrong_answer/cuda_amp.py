# The deprecated name: it warns, and it is about CUDA whatever the device is.
# caught-by: test_linear_layers_run_in_half
import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    with torch.cuda.amp.autocast(dtype=dtype):
        return F.cross_entropy(model(x), y)
