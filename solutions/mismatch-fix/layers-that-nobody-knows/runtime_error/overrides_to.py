# Moves the heads along, where somebody calls `to` of this very module. They are not trained or saved.
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

    def to(self, *args, **kwargs):
        for heads in self.heads.values():
            for head in heads:
                head.to(*args, **kwargs)
        return super().to(*args, **kwargs)

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head(hidden) * scale for head in self.heads[task]]
