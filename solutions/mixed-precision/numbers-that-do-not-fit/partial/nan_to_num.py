# Adds minus infinity, and puts nan_to_num over the rows of nan: the loss is right, the gradients are nan all the same.
# caught-by: test_gradients
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0] + torch.zeros_like(keep, dtype=q.dtype).masked_fill(~keep, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
