# What crosses is detached, since "a graph cannot span devices". It can, and the table is never trained.
# caught-by: test_both_are_trained
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body

    def _apply(self, *args, **kwargs):
        self.body._apply(*args, **kwargs)
        return self

    def forward(self, ids):
        rows = self.table(ids.cpu()).detach()
        return self.body(rows.to(next(self.body.parameters()).device))
