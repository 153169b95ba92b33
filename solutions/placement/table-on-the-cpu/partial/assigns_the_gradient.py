# Brings the gradient home by hand and assigns it: of two backward passes before a step, the first one is lost.
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
        ids, weight = ids.cpu(), self.table.weight

        def bring_home(grad):
            weight.grad = torch.zeros_like(weight).index_add_(0, ids.flatten(), grad.cpu().flatten(0, 1))

        rows = self.table(ids).detach().to(next(self.body.parameters()).device)
        if torch.is_grad_enabled():
            rows.requires_grad_().register_hook(bring_home)
        return self.body(rows)
