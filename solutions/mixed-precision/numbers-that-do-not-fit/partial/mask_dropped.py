# Drops the mask, which raised: hidden tokens are read like all others.
# caught-by: test_ordinary_numbers
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    weights = torch.softmax((k @ q[:, :, None])[:, :, 0], dim=-1)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
