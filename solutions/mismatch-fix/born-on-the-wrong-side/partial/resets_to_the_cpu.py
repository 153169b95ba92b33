# Sets the default device and puts it back to the CPU, where it may never have been.
# caught-by: test_nothing_global_is_left
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)

    def forward(self, tokens):
        torch.set_default_device(tokens.device)
        batch, time = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(time))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        mask = torch.full((time, time), float("-inf"), dtype=x.dtype).triu(1)
        x = torch.softmax(scores + mask, dim=-1) @ x
        state = torch.zeros(batch, x.shape[-1], dtype=x.dtype)
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        torch.set_default_device("cpu")
        return torch.stack(states, dim=1)
