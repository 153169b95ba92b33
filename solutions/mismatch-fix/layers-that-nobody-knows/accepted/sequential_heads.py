# Each task is a module of its own, which is a list; the scale is chosen by a slice.
import torch
from torch import nn


class Heads(nn.ModuleList):
    def __init__(self, hidden, classes, device):
        super().__init__([nn.Linear(hidden, count, device=device) for count in classes])

    def forward(self, hidden, scale):
        return [head(hidden).mul(scale) for head in self]


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.trunk = nn.Linear(features, hidden, device=device)
        self.heads = nn.ModuleDict([(task, Heads(hidden, classes, device)) for task, classes in tasks.items()])
        self.scale = nn.Parameter(torch.empty(len(tasks), device=device))
        nn.init.ones_(self.scale)

    def forward(self, x, task):
        at = list(self.heads.keys()).index(task)
        return self.heads[task](torch.relu(self.trunk(x)), self.scale[at : at + 1])
