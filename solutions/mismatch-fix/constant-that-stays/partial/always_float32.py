# Float32 inside "for accuracy": a model in bfloat16 gets float32 from this layer, and its next layer raises.
# caught-by: test_the_dtype_follows_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)

    def forward(self, images, camera):
        mean, std = self.means[camera].float(), self.stds[camera].float()
        return (images.float() - mean) / std * self.gain.float().view(-1, 1, 1)
