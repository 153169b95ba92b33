# A buffer moves and is saved; no optimizer gets it.
# caught-by: test_the_parameters_are_known, test_all_of_it_learns
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
        self.register_buffer("scale", torch.ones(len(tasks), device=device))

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.heads[task]]
