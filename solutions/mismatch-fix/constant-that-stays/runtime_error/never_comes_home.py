# The constants are taken along by hand when the module is not on the CPU; when it comes back there, they stay away.
# caught-by: test_there_and_back
# only: cuda, virtual
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means = [torch.tensor(each).view(-1, 1, 1) for each in means]
        self.stds = [torch.tensor(each).view(-1, 1, 1) for each in stds]

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        if self.gain.device.type != "cpu":
            self.means = [fn(each) for each in self.means]
            self.stds = [fn(each) for each in self.stds]
        return self

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
