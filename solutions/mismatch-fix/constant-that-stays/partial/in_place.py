# Standardizes the caller's images in place, so that the second look at them sees other images.
# caught-by: test_the_result_is_right
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)

    def forward(self, images, camera):
        return images.sub_(self.means[camera]).div_(self.stds[camera]) * self.gain.view(-1, 1, 1)
