# What is built on a GPU is built in half precision, since that is what GPUs are for; nobody has asked for it.
# caught-by: test_the_outputs_are_right
# only: cuda, virtual
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        dtype = torch.float16 if device.type == "cuda" else torch.float32
        made = {"device": device, "dtype": dtype}
        self.trunk = nn.Linear(features, hidden, **made)
        self.heads = nn.ModuleDict(
            {
                task: nn.ModuleList(nn.Linear(hidden, count, **made) for count in classes)
                for task, classes in tasks.items()
            }
        )
        self.scale = nn.Parameter(torch.ones(len(tasks), **made))

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x.to(self.scale.dtype)))
        scale = self.scale[[*self.heads].index(task)]
        return [(head(hidden) * scale).float() for head in self.heads[task]]
