# A probability, and the loss of it: in half it is 0 or 1 soon, and its logarithm is a constant without a gradient.
# only: cpu
# caught-by: test_confident_and_wrong
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy(torch.sigmoid(logits), y)
