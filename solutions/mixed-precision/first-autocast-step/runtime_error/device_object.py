# Hands autocast the torch.device: it wants the text of its kind.
# caught-by: test_every_spelling_of_the_device
import contextlib

import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    plain = dtype == torch.float32 or torch.device(device).type == "meta"
    with contextlib.nullcontext() if plain else torch.autocast(device, dtype=dtype):
        return F.cross_entropy(model(x), y)
