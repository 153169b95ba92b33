# In a list the table is not found by `to`. Nor is it by a parent's `parameters()` and `state_dict()`.
# caught-by: test_the_state_goes_round
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.hidden = [table]
        self.body = body

    def parameters(self, recurse=True):
        yield from self.hidden[0].parameters()
        yield from super().parameters(recurse)

    def forward(self, ids):
        return self.body(self.hidden[0](ids.cpu()).to(next(self.body.parameters()).device))
