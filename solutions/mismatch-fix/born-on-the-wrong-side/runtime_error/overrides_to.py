# Keeps the device up to date in `to`, which nobody calls when the encoder is a part of a model that is moved.
# caught-by: test_it_computes_where_it_was_moved, test_on_the_accelerator
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)
        self.device = self.cell.weight_hh.device

    def to(self, *args, **kwargs):
        super().to(*args, **kwargs)
        self.device = self.cell.weight_hh.device
        return self

    def forward(self, tokens):
        batch, time = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(time, device=self.device))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        mask = torch.full((time, time), float("-inf"), device=self.device, dtype=x.dtype).triu(1)
        x = torch.softmax(scores + mask, dim=-1) @ x
        state = x.new_zeros(batch, x.shape[-1])
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
