# No mask at all: each position gets only what it may see. The positions are counted where the tokens are.
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)

    def forward(self, tokens):
        time = tokens.shape[1]
        x = self.words(tokens) + self.places(torch.ones_like(tokens).cumsum(1) - 1)
        seen = []
        for step in range(time):
            past = x[:, : step + 1]
            scores = past @ x[:, step, :, None] / x.shape[-1] ** 0.5
            seen.append((torch.softmax(scores, dim=1) * past).sum(1))
        x = torch.stack(seen, dim=1)
        state = torch.zeros_like(x[:, 0])
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
