# As low as a score may be, and not lower: a hidden token is as good as one that counts.
# caught-by: test_hidden_tokens_do_not_count
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, -2e4)
    weights = torch.softmax(scores, dim=-1) * keep.any(-1, keepdim=True)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
