# The lowest number of float32 does not fit into a half-precision tensor: torch refuses it.
# caught-by: test_layers_stay_in_half
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(torch.float32).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
