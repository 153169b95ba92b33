# Moves all, then puts the table back: for a moment the accelerator must have room for it.
# caught-by: test_it_fits_in_the_budget
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body

    def _apply(self, fn, recurse=True):
        weight, values = self.table.weight, self.table.weight.data
        super()._apply(fn, recurse)
        self.table.weight = weight
        weight.data = values
        return self

    def forward(self, ids):
        return self.body(self.table(ids.cpu()).to(next(self.body.parameters()).device))
