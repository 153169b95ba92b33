# A small module for each camera in a ModuleList: lists of modules are registered, lists of tensors are not.
import torch
from torch import nn


class Statistics(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(-1, 1, 1), persistent=False)


class CameraNormalizer(nn.Module):
    def __init__(self, means, stds):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(len(means[0])))
        self.cameras = nn.ModuleList(Statistics(mean, std) for mean, std in zip(means, stds))

    def forward(self, images, camera):
        statistics = self.cameras[camera]
        return (images - statistics.mean) / statistics.std * self.gain.view(-1, 1, 1)
