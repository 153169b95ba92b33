# Takes one layer out of half precision, to be safe.
# caught-by: test_layers_stay_in_half
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k = layers["query"](question), layers["key"](tokens)
    with torch.autocast(tokens.device.type, enabled=False):
        v = layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, :, None] * v).sum(1))[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
