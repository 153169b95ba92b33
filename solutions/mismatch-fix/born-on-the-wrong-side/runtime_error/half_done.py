# The places and the mask are made on the device; the state, three lines below, is not.
# caught-by: test_it_computes_where_it_was_moved, test_on_the_accelerator
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
        x = self.words(tokens) + self.places(torch.arange(time, device=tokens.device))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        mask = torch.full((time, time), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        x = torch.softmax(scores + mask, dim=-1) @ x
        state = torch.zeros(batch, x.shape[-1], dtype=x.dtype)
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
