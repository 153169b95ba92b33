# Records the lookup in training mode only. The mode is for layers such as dropout: a gradient may be asked for in both.
# caught-by: test_both_are_trained
import torch
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
        with torch.set_grad_enabled(self.training):
            rows = self.table(ids.cpu()).to(next(self.body.parameters()).device)
        return self.body(rows)
