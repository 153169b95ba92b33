# The lowest number for hidden tokens, and no more: where all are hidden, softmax gives each the same weight.
# caught-by: test_nothing_to_attend_to
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
