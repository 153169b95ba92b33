# Buffers are saved by default: the checkpoint has new keys, and the old ones are refused.
# caught-by: test_the_checkpoint_is_unchanged
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means).unsqueeze(-1).unsqueeze(-1))
        self.register_buffer("stds", torch.tensor(stds).unsqueeze(-1).unsqueeze(-1))

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
