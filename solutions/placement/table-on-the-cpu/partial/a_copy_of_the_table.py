# Trains a copy of the table: the caller's stays as it was, and the host holds both.
# caught-by: test_the_table_stays
import copy

from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = copy.deepcopy(table)
        self.body = body

    def _apply(self, *args, **kwargs):
        self.body._apply(*args, **kwargs)
        return self

    def forward(self, ids):
        return self.body(self.table(ids.cpu()).to(next(self.body.parameters()).device))
