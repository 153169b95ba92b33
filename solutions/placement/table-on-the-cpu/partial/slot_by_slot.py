# Sends a copy for each slot: the same bytes, and a price for each of many trips.
# only: virtual, cuda, mps, xpu
# caught-by: test_rows_cross_once
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
        device = next(self.body.parameters()).device
        if ids.device == device:
            return self.body(self.table(ids.cpu()).to(device))
        return self.body(torch.stack([self.table(each).to(device) for each in ids.unbind(1)], dim=1))
