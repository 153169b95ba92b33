# A name for each camera; the tensor is looked up at each use, so no old one is held.
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        for camera, (mean, std) in enumerate(zip(means, stds)):
            setattr(self, f"mean_{camera}", nn.Buffer(torch.tensor(mean).view(-1, 1, 1), persistent=False))
            setattr(self, f"std_{camera}", nn.Buffer(torch.tensor(std).view(-1, 1, 1), persistent=False))

    def forward(self, images, camera):
        mean, std = getattr(self, f"mean_{camera}"), getattr(self, f"std_{camera}")
        return (images - mean) / std * self.gain.view(-1, 1, 1)
