# No containers: plain modules, to which the parts are added by name.
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        with torch.device(device):
            self.trunk = nn.Linear(features, hidden)
            self.heads = nn.Module()
            for task, classes in tasks.items():
                group = nn.Module()
                for at, count in enumerate(classes):
                    group.add_module(str(at), nn.Linear(hidden, count))
                self.heads.add_module(task, group)
            self.register_parameter("scale", nn.Parameter(torch.ones(len(tasks))))
        self.tasks = [*tasks]

    def forward(self, x, task):
        hidden = torch.relu(self.trunk(x))
        scale = self.scale.unbind()[self.tasks.index(task)]
        return [scale * head(hidden) for head in self.heads.get_submodule(task).children()]
