# Within the block, factories make their tensors on the device of the tokens; it ends with the block.
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
        with torch.device(tokens.device):
            x = self.words(tokens) + self.places(torch.arange(time))
            scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
            allowed = torch.ones(time, time, dtype=torch.bool).tril()
            x = torch.softmax(torch.where(allowed, scores, float("-inf")), dim=-1) @ x
            state = torch.zeros(batch, x.shape[-1], dtype=x.dtype)
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
