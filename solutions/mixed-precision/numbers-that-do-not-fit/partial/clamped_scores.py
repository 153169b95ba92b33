# Clamps the scores so that exp fits: two scores above the bound become the same.
# caught-by: test_large_scores
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    scores = (k.float() * q.float()[:, None]).sum(-1) / q.shape[-1] ** 0.5
    parts = torch.exp(scores.clamp(-80, 80)) * keep
    weights = parts / parts.sum(-1, keepdim=True).clamp_min(1e-30)
    logits = layers["out"]((weights[:, :, None] * v).sum(1))[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
