# Looks for an overflow in the one dtype that has it: an accelerator is waited for all the same.
# caught-by: test_no_value_is_read
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    q = q * q.shape[-1] ** -0.5
    scores = (k @ q[:, :, None])[:, :, 0].masked_fill(~keep, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~keep, 0)
    logits = layers["out"]((weights[:, None, :] @ v)[:, 0])[:, 0]
    if logits.dtype == torch.float16 and not logits.isfinite().all():
        raise OverflowError("a logit does not fit")
    return F.binary_cross_entropy_with_logits(logits, y)
