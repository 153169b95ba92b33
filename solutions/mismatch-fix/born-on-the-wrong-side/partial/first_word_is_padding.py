# Takes the first word for padding, as much code does. It is one like others, and gets a gradient.
# caught-by: test_the_result_is_right
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)
        self.register_buffer("ids", torch.arange(length), persistent=False)
        self.register_buffer("later", torch.ones(length, length, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, tokens):
        time = tokens.shape[1]
        x = self.words(tokens) + self.places(self.ids[:time])
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        x = torch.softmax(scores.masked_fill(self.later[:time, :time], float("-inf")), dim=-1) @ x
        state = None
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
