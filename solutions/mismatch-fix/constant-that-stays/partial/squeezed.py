# `squeeze` tidies the shape up: with one camera, the dimension of the cameras is gone, and the index takes a channel.
# caught-by: test_the_result_is_right
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means).squeeze()[..., None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds).squeeze()[..., None, None], persistent=False)

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
