# Where all is hidden the logit is 0. The context is; the last layer has a bias.
# caught-by: test_nothing_to_attend_to
import torch
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question), layers["key"](tokens), layers["value"](tokens)
    scores = torch.matmul(k, q[:, :, None] / q.shape[1] ** 0.5).squeeze(2)
    weights = torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=1).nan_to_num(0.0)
    logits = layers["out"](torch.bmm(weights.unsqueeze(1), v).squeeze(1)).squeeze(1)
    return F.binary_cross_entropy_with_logits(logits * keep.any(1), y)
