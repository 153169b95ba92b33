# `to`, `cuda`, `cpu` and a parent's all go through `_apply`: it is passed on to the body alone.
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
        rows = self.table(ids.cpu())
        return self.body(rows.to(next(self.body.parameters()).device))
