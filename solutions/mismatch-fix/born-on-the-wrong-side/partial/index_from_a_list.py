# A list is an index too, without a `.to` and without an error: torch makes a tensor of it and copies that, in each call.
# caught-by: test_nothing_is_born_on_the_cpu, test_nothing_comes_from_the_host
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
        x = self.words(tokens) + self.places.weight[[*range(time)]]
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        mask = torch.full((time, time), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        x = torch.softmax(scores + mask, dim=-1) @ x
        state = x.new_zeros(batch, x.shape[-1])
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
