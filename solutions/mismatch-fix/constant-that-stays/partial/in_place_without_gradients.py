# Without gradients nobody seems to need the images any more, so memory is saved, and the caller's batch is another one.
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
        gain = self.gain.view(-1, 1, 1)
        if not torch.is_grad_enabled():
            return images.sub_(self.means[camera]).div_(self.stds[camera]).mul_(gain)
        return (images - self.means[camera]) / self.stds[camera] * gain
