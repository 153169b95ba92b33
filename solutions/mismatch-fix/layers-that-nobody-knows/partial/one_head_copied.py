# All heads of a size are copies of one, so they start with the same numbers.
# caught-by: test_the_parameters_are_known
import copy

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.trunk = nn.Linear(features, hidden, device=device)
        sizes = {count for classes in tasks.values() for count in classes}
        pattern = {count: nn.Linear(hidden, count, device=device) for count in sizes}
        self.heads = nn.ModuleDict(
            {task: nn.ModuleList(copy.deepcopy(pattern[count]) for count in classes) for task, classes in tasks.items()}
        )
        self.scale = nn.Parameter(torch.ones(len(tasks), device=device))

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.heads[task]]
