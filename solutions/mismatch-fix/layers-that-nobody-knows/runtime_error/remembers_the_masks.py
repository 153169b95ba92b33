# Picks the scale by a product with a mask, and keeps the masks of its first call. The meta device lets it pass.
# caught-by: test_there_and_back
# only: virtual, cuda
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
        self.masks = None

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        if self.masks is None:
            self.masks = torch.eye(len(self.heads), device=x.device)
        at = [*self.heads].index(task)
        scale = (self.masks[at : at + 1] @ self.scale.unsqueeze(1)).squeeze()
        return [head(hidden) * scale for head in self.heads[task]]
