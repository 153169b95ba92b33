# Computes the loss of the rows that attend to something by a boolean index, whose size must be known.
# caught-by: test_no_value_is_read
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    some = keep.any(-1)
    context = torch.zeros_like(v[:, 0])
    context[some] = (weights[:, None, :] @ v)[some, 0]
    logits = layers["out"](context)[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
