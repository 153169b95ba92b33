# The loss by its formula, in float32: exp of a logit far below zero is infinite there too.
# caught-by: test_confident_and_wrong
import torch


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0].float()
    return (torch.log1p(torch.exp(-logits)) + (1 - y) * logits).mean()
