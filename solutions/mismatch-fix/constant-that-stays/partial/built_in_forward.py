# Builds the constants where the images are: numbers from Python's lists cross to the device in each call.
# caught-by: test_the_constants_follow_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means, self.stds = means, stds

    def forward(self, images, camera):
        mean = torch.tensor(self.means[camera], device=images.device, dtype=images.dtype).view(-1, 1, 1)
        std = torch.tensor(self.stds[camera], device=images.device, dtype=images.dtype).view(-1, 1, 1)
        return (images - mean) / std * self.gain.view(-1, 1, 1)
