# Flattens the pixels by `view`, which images refuse whose rows do not lie one after the other.
# caught-by: test_the_result_is_right
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means)[:, :, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None], persistent=False)

    def forward(self, images, camera):
        pixels = images.view(*images.shape[:2], -1)
        return ((pixels - self.means[camera]) / self.stds[camera] * self.gain[:, None]).view(images.shape)
