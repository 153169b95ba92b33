# Takes off the largest score of all tokens, hidden ones too: what counts is then exp of something far below zero.
# caught-by: test_hidden_tokens_do_not_count
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    scores = (k.float() * q.float()[:, None]).sum(-1) / q.shape[-1] ** 0.5
    parts = torch.exp(scores - scores.amax(-1, keepdim=True)) * keep
    weights = parts / parts.sum(-1, keepdim=True).clamp_min(1e-30)
    logits = layers["out"]((weights[:, :, None] * v).sum(1))[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
