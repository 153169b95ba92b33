# Registers buffers, and goes on with the lists: a move puts new tensors into the buffers, not into the lists.
# caught-by: test_the_constants_follow_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means = [torch.tensor(each).view(-1, 1, 1) for each in means]
        self.stds = [torch.tensor(each).view(-1, 1, 1) for each in stds]
        for camera, (mean, std) in enumerate(zip(self.means, self.stds)):
            self.register_buffer(f"mean_{camera}", mean, persistent=False)
            self.register_buffer(f"std_{camera}", std, persistent=False)

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
