# One tensor for all cameras, registered: `to` moves and casts it, and the checkpoint does not know of it.
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain[:, None, None]
