# Built on the CPU, and moved in the last line of the constructor, when all is registered.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self, features, hidden, tasks, device):
        super().__init__()
        self.numbers = {task: number for number, task in enumerate(tasks)}
        self.trunk = nn.Linear(features, hidden)
        self.heads = nn.ModuleDict()
        for task, classes in tasks.items():
            self.heads[task] = nn.ModuleList()
            for count in classes:
                self.heads[task].append(nn.Linear(hidden, count))
        self.scale = nn.Parameter(torch.ones(len(tasks)))
        self.to(device)

    def forward(self, x, task):
        hidden = self.trunk(x).relu()
        scaled = hidden * self.scale[self.numbers[task]]
        return [F.linear(scaled, head.weight) + head.bias * self.scale[self.numbers[task]] for head in self.heads[task]]
