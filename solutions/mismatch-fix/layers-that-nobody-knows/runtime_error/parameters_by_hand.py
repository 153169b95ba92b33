# Overrides `parameters` for the optimizer; nobody else asks it.
# caught-by: test_the_parameters_are_known
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.trunk = nn.Linear(features, hidden, device=device)
        self.heads = {
            task: [nn.Linear(hidden, count, device=device) for count in classes] for task, classes in tasks.items()
        }
        self.scale = nn.Parameter(torch.ones(len(tasks), device=device))

    def parameters(self, recurse=True):
        yield from super().parameters(recurse)
        for heads in self.heads.values():
            for head in heads:
                yield from head.parameters()

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.heads[task]]
