# The state is kept in the module, where it is on the right device; the next call starts where the last one ended.
# caught-by: test_the_result_is_right
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary, width, length):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.cell = nn.GRUCell(width, width)
        self.register_buffer("state", torch.zeros(0), persistent=False)

    def forward(self, tokens):
        batch, time = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(time, device=tokens.device))
        scores = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
        mask = torch.full((time, time), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        x = torch.softmax(scores + mask, dim=-1) @ x
        if self.state.shape != x[:, 0].shape:
            self.state = x.new_zeros(batch, x.shape[-1])
        state = self.state
        states = []
        for step in range(time):
            state = self.cell(x[:, step], state)
            states.append(state)
        self.state = state.detach()
        return torch.stack(states, dim=1)
