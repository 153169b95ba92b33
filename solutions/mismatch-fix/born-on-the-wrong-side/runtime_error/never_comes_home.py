# Its own tensors are taken along by hand when the module leaves the CPU, and forgotten there when it comes back.
# caught-by: test_on_the_accelerator
# only: cuda, virtual
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)
        self.ids = torch.arange(length)
        self.later = torch.ones(length, length, dtype=torch.bool).triu(1)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        if self.words.weight.device.type != "cpu":
            self.ids = self.ids.to(self.words.weight.device)
            self.later = self.later.to(self.words.weight.device)
        return self

    def forward(self, tokens):
        time = tokens.shape[1]
        x = self.words(tokens) + self.places(self.ids[:time])
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        x = torch.softmax(scores.masked_fill(self.later[:time, :time], float("-inf")), dim=-1) @ x
        state = torch.zeros_like(x[:, 0])
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
