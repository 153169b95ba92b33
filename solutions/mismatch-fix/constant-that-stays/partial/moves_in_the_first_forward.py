# Copies once for each device and remembers: the first call after a move is slow, and the old copies stay.
# caught-by: test_the_constants_follow_the_module, test_nothing_crosses_in_forward
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.statistics = [torch.tensor(each).view(2, -1, 1, 1) for each in zip(means, stds)]
        self.moved = {}

    def forward(self, images, camera):
        key = camera, images.device, images.dtype
        if key not in self.moved:
            self.moved[key] = self.statistics[camera].to(images)
        mean, std = self.moved[key]
        return (images - mean) / std * self.gain.view(-1, 1, 1)
