# The right place for the move, without its last line: `normalizer.to(device)` is None.
# caught-by: test_the_constants_follow_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means = torch.tensor(means)[:, :, None, None]
        self.stds = torch.tensor(stds)[:, :, None, None]

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.means, self.stds = fn(self.means), fn(self.stds)

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
