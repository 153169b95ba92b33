# Looks at the ids where they are: on the accelerator that is one more trip home, for which the host waits.
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
        if int(ids.max()) >= self.table.num_embeddings:
            raise IndexError("no such row")
        return self.body(self.table(ids.cpu()).to(next(self.body.parameters()).device))
