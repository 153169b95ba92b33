# Keeps the rows on the device while the same ids are evaluated again. The table has been trained since.
# caught-by: test_both_are_trained
import torch
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body
        self.known, self.rows = None, None

    def _apply(self, *args, **kwargs):
        self.body._apply(*args, **kwargs)
        return self

    def forward(self, ids):
        device = next(self.body.parameters()).device
        if torch.is_grad_enabled():
            return self.body(self.table(ids.cpu()).to(device))
        if self.known is not ids or self.rows.device != device:
            self.known, self.rows = ids, self.table(ids.cpu()).to(device)
        return self.body(self.rows)
