# A slice for the places, a fused attention that knows what causal means, zeros like the input.
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
        x = nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        state = torch.zeros_like(x[:, 0])
        states = []
        for each in x.unbind(1):
            state = self.cell(each, state)
            states.append(state)
        return torch.stack(states, dim=1)
