# Only the mask is repaired: exp of a score above 11 is infinite in float16.
# caught-by: test_large_scores
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    scores = (k @ q[:, :, None])[:, :, 0] / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
