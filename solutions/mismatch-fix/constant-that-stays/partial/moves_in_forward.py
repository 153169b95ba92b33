# Right values, no error, and a copy from the CPU in each call.
# caught-by: test_the_constants_follow_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means = [torch.tensor(each).view(-1, 1, 1) for each in means]
        self.stds = [torch.tensor(each).view(-1, 1, 1) for each in stds]

    def forward(self, images, camera):
        mean, std = self.means[camera].to(images), self.stds[camera].to(images)
        return (images - mean) / std * self.gain.view(-1, 1, 1)
