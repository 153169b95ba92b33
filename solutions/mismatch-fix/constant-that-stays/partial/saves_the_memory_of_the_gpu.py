# On a GPU the constants are sent in each call, to save its memory: two copies for each batch, to save a few bytes.
# caught-by: test_nothing_crosses_in_forward
# only: cuda, virtual
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.on_the_host = torch.tensor([means, stds])[:, :, :, None, None]
        self.register_buffer("constants", self.on_the_host.clone(), persistent=False)

    def forward(self, images, camera):
        constants = self.on_the_host.to(images) if images.is_cuda else self.constants
        mean, std = constants[:, camera]
        return (images - mean) / std * self.gain.view(-1, 1, 1)
