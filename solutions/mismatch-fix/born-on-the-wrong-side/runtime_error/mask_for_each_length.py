# Keeps a mask for each length and device, and forgets that the dtype is the third thing that may change.
# caught-by: test_the_dtype_follows
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)
        self.masks = {}

    def forward(self, tokens):
        batch, time = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(time, device=tokens.device))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        key = time, x.device
        if key not in self.masks:
            self.masks[key] = torch.full((time, time), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        x = torch.softmax(scores + self.masks[key], dim=-1) @ x
        state = x.new_zeros(batch, x.shape[-1])
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
