# Casts back to the dtype of autocast, which has one even where it is off.
# caught-by: test_without_autocast
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    weights, v = weights.to(torch.get_autocast_dtype(v.device.type)), v.to(torch.get_autocast_dtype(v.device.type))
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits.float(), y)
