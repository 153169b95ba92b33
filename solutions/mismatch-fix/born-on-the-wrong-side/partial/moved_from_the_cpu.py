# Made on the CPU and moved: right, and a copy for each helper in each call.
# caught-by: test_nothing_is_born_on_the_cpu
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)

    def forward(self, tokens):
        batch, time = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(time).to(tokens.device))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        mask = torch.full((time, time), float("-inf")).triu(1).to(x)
        x = torch.softmax(scores + mask, dim=-1) @ x
        state = torch.zeros(batch, x.shape[-1]).to(x)
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
