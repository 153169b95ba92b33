# Softmax and loss written by hand, with the largest kept score taken off first and the loss as a softplus of the margin.
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens).float(), layers["value"](tokens)
    scores = (k * q[:, None, :]).sum(2) / q.shape[1] ** 0.5
    scores = torch.where(keep, scores, torch.finfo(torch.float32).min)
    parts = torch.exp(scores - scores.amax(1, keepdim=True)) * keep
    weights = parts / parts.sum(1, keepdim=True).clamp_min(1.0)  # at least 1, unless all is hidden
    logits = layers["out"]((weights[:, :, None] * v).sum(1))[:, 0].float()
    return F.softplus(torch.where(y > 0, -logits, logits)).mean()
