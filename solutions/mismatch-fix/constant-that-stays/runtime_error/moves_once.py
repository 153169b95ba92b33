# Follows the first images that come, and never again: the way back to the CPU is not thought of.
# caught-by: test_there_and_back
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)
        self.parts = None

    def forward(self, images, camera):
        if self.parts is None:
            self.parts = [*zip(self.means, self.stds)]
        mean, std = self.parts[camera]
        return (images - mean) / std * self.gain.view(-1, 1, 1)
