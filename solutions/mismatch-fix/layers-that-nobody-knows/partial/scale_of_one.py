# Skips the multiplication where the scale is one: to see that, the CPU waits for it.
# caught-by: test_forward_does_not_wait
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
        scale = self.scale[[*self.heads].index(task)]
        outputs = [head(hidden) for head in self.heads[task]]
        if x.is_meta or scale != 1:
            outputs = [each * scale for each in outputs]
        return outputs
