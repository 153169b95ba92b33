# Looks whether a sequence is hidden wholly: an accelerator is waited for in every step.
# caught-by: test_no_value_is_read
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if not keep.any(-1).all():
        weights = weights * keep.any(-1, keepdim=True)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
