# A parameter that is not trained is moved, and is a parameter still: it is counted, saved, and missing in old checkpoints.
# caught-by: test_only_the_gain_is_trained, test_the_checkpoint_is_unchanged
import torch
from torch import nn


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.means = nn.ParameterList(
            nn.Parameter(torch.tensor(each).view(-1, 1, 1), requires_grad=False) for each in means
        )
        self.stds = nn.ParameterList(
            nn.Parameter(torch.tensor(each).view(-1, 1, 1), requires_grad=False) for each in stds
        )

    def forward(self, images, camera):
        return (images - self.means[camera]) / self.stds[camera] * self.gain.view(-1, 1, 1)
