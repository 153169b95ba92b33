# Each task knows its place in a plain tensor, which is taken along by hand when the module leaves the CPU, and not back.
# caught-by: test_there_and_back
# only: cuda, virtual
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
        self.places = torch.arange(len(tasks), device=device)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        if self.scale.device.type != "cpu":
            self.places = self.places.to(self.scale.device)
        return self

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        at = [*self.heads].index(task)
        scale = self.scale.index_select(0, self.places[at : at + 1])
        return [head(hidden) * scale for head in self.heads[task]]
