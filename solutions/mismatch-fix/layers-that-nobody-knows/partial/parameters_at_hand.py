# Looks the weights up once and keeps them: a load that assigns new ones is not seen.
# caught-by: test_it_saves_and_loads
import torch
import torch.nn.functional as F
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
        self.place = None

    def forward(self, x, task):
        if self.place != x.device:
            self.place = x.device
            self.at_hand = {name: [(each.weight, each.bias) for each in heads] for name, heads in self.heads.items()}
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [F.linear(hidden, *head) * scale for head in self.at_hand[task]]
