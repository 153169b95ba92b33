# Python's numbers have no device: each goes into its operation as an argument, in the dtype of the images.
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means, self.stds = means, stds

    def forward(self, images, camera):
        numbers = zip(images.unbind(1), self.means[camera], self.stds[camera])
        return torch.stack([(channel - mean) / std for channel, mean, std in numbers], 1) * self.gain.view(-1, 1, 1)
