# The scale is used as a number, so that no gradient comes to it.
# caught-by: test_all_of_it_learns
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

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale.detach()[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.heads[task]]
