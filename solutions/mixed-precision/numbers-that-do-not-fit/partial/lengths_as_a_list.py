# Asks on the host how many tokens each sequence has.
# only: cuda, virtual
# caught-by: test_no_value_is_read
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    lengths = keep.sum(-1).tolist()
    some = torch.tensor([length > 0 for length in lengths], device=keep.device)[:, None]
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1) * some
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    return F.binary_cross_entropy_with_logits(logits, y)
