# Overrides `to`, `cuda` and `cpu`. For a parent's move it takes the table out and makes a new parameter of it afterwards.
# caught-by: test_inside_a_larger_module
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body

    def to(self, *args, **kwargs):
        self.body.to(*args, **kwargs)
        return self

    def cuda(self, device=None):
        return self.to("cuda" if device is None else device)

    def cpu(self):
        return self.to("cpu")

    def _apply(self, fn, recurse=True):
        values = self.table.weight.data
        self.table.weight = None
        super()._apply(fn, recurse)
        self.table.weight = nn.Parameter(values)
        return self

    def forward(self, ids):
        return self.body(self.table(ids.cpu()).to(next(self.body.parameters()).device))
