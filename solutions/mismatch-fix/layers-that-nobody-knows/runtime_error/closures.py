# Each head is called by a closure: that of a copy calls the original's.
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
        self.calls = {
            task: [lambda hidden, head=head: head(hidden) for head in heads] for task, heads in self.heads.items()
        }

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale[[*self.heads].index(task)]
        return [call(hidden) * scale for call in self.calls[task]]
