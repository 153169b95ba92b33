# Somebody has read that the host should prepare what the GPU computes with: so it is made there, and copied in each call.
# caught-by: test_nothing_comes_from_the_host
# only: cuda, virtual
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
        host = "cpu" if tokens.is_cuda else tokens.device
        ids = torch.arange(time, device=host)
        later = torch.ones(time, time, dtype=torch.bool, device=host).triu(1)
        x = self.words(tokens) + self.places(ids.to(tokens.device, non_blocking=True))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        scores = scores.masked_fill(later.to(tokens.device, non_blocking=True), float("-inf"))
        x = torch.softmax(scores, dim=-1) @ x
        state = torch.zeros_like(x[:, 0])
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, dim=1)
