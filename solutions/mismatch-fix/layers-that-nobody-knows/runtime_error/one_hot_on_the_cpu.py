# Chooses the scale by a vector made on the CPU, which the meta device lets pass.
# caught-by: test_there_and_back
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
        chosen = torch.tensor([float(each == task) for each in self.heads])
        scale = chosen @ self.scale
        return [head(hidden) * scale for head in self.heads[task]]
