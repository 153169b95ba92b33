# Remembers the device that the body has when the model is made.
# caught-by: test_the_table_stays, test_inside_a_larger_module, test_the_body_is_where_it_is
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body
        self.device = next(body.parameters()).device

    def _apply(self, *args, **kwargs):
        self.body._apply(*args, **kwargs)
        return self

    def forward(self, ids):
        return self.body(self.table(ids.cpu()).to(self.device))
