# Multiplies in half and adds in float32: a product of two numbers may be too large already.
# caught-by: test_large_scores
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    scores = (k * q[:, None]).float().sum(-1) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~keep, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, :, None] * v).sum(1))[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
