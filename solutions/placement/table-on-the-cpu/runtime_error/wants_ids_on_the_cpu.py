# Forgets that the ids may come with the rest of the batch, on the accelerator.
# only: virtual, cuda, mps, xpu
# caught-by: test_ids_from_either_device
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
        return self.body(self.table(ids).to(next(self.body.parameters()).device))
