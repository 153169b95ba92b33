# `new_tensor` finds device and dtype by itself, and copies the list's numbers from the host in each call.
# caught-by: test_the_constants_follow_the_module, test_nothing_crosses_in_forward
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means, self.stds = means, stds

    def forward(self, images, camera):
        mean, std = (images.new_tensor(each[camera]).view(-1, 1, 1) for each in (self.means, self.stds))
        return (images - mean) / std * self.gain.view(-1, 1, 1)
