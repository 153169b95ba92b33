# The heads are registered, and those that compute are copies in the old dict.
# caught-by: test_the_outputs_are_right, test_all_of_it_learns
import copy

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.trunk = nn.Linear(features, hidden, device=device)
        self.heads = nn.ModuleDict(
            {
                task: nn.ModuleList(nn.Linear(hidden, count, device=device) for count in classes)
                for task, classes in tasks.items()
            }
        )
        self.scale = nn.Parameter(torch.ones(len(tasks), device=device))
        self.used = {task: [copy.deepcopy(head) for head in heads] for task, heads in self.heads.items()}

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.used[task]]
