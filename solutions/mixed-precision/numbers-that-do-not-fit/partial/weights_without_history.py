# Computes the attention under no_grad, where it cannot blow up: the loss is right, query and key learn nothing.
# caught-by: test_gradients
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    with torch.no_grad():
        q = q * q.shape[-1] ** -0.5
        scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
        weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
