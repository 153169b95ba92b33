# Builds on the CPU; who wants it elsewhere shall move it.
# caught-by: test_all_of_it_goes_along
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.trunk = nn.Linear(features, hidden)
        self.heads = nn.ModuleDict(
            {task: nn.ModuleList(nn.Linear(hidden, count) for count in classes) for task, classes in tasks.items()}
        )
        self.scale = nn.Parameter(torch.ones(len(tasks)))

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.heads[task]]
