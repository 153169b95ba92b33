# Each task gets its scale by a closure: that of a deep copy gets the original's.
# caught-by: test_all_of_it_goes_along
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
        self.scales = {task: lambda at=at: self.scale[at] for at, task in enumerate(tasks)}

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scales[task]()
        return [head(hidden) * scale for head in self.heads[task]]
