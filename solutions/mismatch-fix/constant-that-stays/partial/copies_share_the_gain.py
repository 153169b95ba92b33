# A copy gets the trained gain, the parameter itself: when the copy is cast, the original's gain is another one.
# caught-by: test_the_constants_follow_the_module
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.lists = means, stds
        self.register_buffer("means", torch.tensor(means)[:, :, None, None], persistent=False)
        self.register_buffer("stds", torch.tensor(stds)[:, :, None, None], persistent=False)

    def __deepcopy__(self, memo):
        twin = CameraNormalizer(*self.lists)
        twin.gain = self.gain
        return twin

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
