# A device for the constructor: right where nothing is ever moved.
# caught-by: test_the_constants_follow_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds, device=None):
        super().__init__()
        device = device or torch.accelerator.current_accelerator(check_available=True)
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means = torch.tensor(means, device=device)[:, :, None, None]
        self.stds = torch.tensor(stds, device=device)[:, :, None, None]

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
