# Lets the table be moved, and brings it back before each lookup.
# caught-by: test_the_table_stays, test_inside_a_larger_module
from torch import nn


class HybridModel(nn.Module):
    def __init__(self, table, body):
        super().__init__()
        self.table = table
        self.body = body

    def forward(self, ids):
        rows = self.table.cpu()(ids.cpu())
        return self.body(rows.to(next(self.body.parameters()).device))
