# Adds the mask: a hidden token with a high score comes down to where those that count may be.
# caught-by: test_hidden_tokens_do_not_count
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0] - 4e4 * ~keep
    weights = torch.softmax(scores, dim=-1) * keep.any(-1, keepdim=True)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
