# A copy is built from the lists again: all is there, but what was trained is all ones.
# caught-by: test_the_constants_follow_the_module
import copy

import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.lists = means, stds
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)

    def __deepcopy__(self, memo):
        return CameraNormalizer(*copy.deepcopy(self.lists, memo))

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
