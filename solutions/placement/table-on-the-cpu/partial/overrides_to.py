# Overrides `to`, `cuda` and `cpu`. A parent that is moved calls none of them.
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

    def forward(self, ids):
        return self.body(self.table(ids.cpu()).to(next(self.body.parameters()).device))
