# It runs everywhere, and the heads are neither trained nor saved.
# caught-by: test_the_parameters_are_known
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.trunk = nn.Linear(features, hidden, device=device)
        self.heads = {task: [nn.Linear(hidden, count) for count in classes] for task, classes in tasks.items()}
        self.scale = nn.Parameter(torch.ones(len(tasks), device=device))

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [head.to(x.device)(hidden) * scale for head in self.heads[task]]
