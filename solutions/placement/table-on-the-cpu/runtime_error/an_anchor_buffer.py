# Knows its device by an empty buffer that is moved along. When the body alone is moved, the buffer is not.
# caught-by: test_the_body_is_where_it_is
import torch
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body
        self.register_buffer("anchor", torch.empty(0), persistent=False)

    def _apply(self, fn, recurse=True):
        self.body._apply(fn, recurse)
        self.anchor = fn(self.anchor)
        return self

    def forward(self, ids):
        return self.body(self.table(ids.cpu()).to(self.anchor.device))
