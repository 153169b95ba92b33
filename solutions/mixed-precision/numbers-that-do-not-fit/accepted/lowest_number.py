# In half precision all the way: the query is scaled before the product, hidden scores are the lowest number of the dtype.
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    scaled = q * q.shape[1] ** -0.5
    scores = (k @ scaled[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=1).masked_fill(~keep, 0)  # where all are hidden, all had the same weight
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
