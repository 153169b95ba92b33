# Weights start at random, as everybody knows; a gain that should change nothing at first does not.
# caught-by: test_only_the_gain_is_trained
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(len(means[0])))
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
