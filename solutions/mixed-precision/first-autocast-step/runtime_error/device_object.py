# Hands autocast the torch.device: it wants the text of its kind.
# caught-by: test_every_spelling_of_the_device
import contextlib

import torch
import torch.nn.functional as F


def forward_loss(model, x, y, device, dtype):
    plain = dtype == torch.float32 or not torch.amp.is_autocast_available(torch.device(device).type)
    with contextlib.nullcontext() if plain else torch.autocast(device, dtype=dtype):
        return F.cross_entropy(model(x), y)
