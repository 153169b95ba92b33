# Leaves the attention to torch, which scales, masks and normalises, and gives zeros where nothing may be attended to.
import torch.nn.functional as F


def forward_loss(layers, question, tokens, keep, y):
    q, k, v = layers["query"](question)[:, None], layers["key"](tokens), layers["value"](tokens)
    context = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None])[:, 0]
    return F.binary_cross_entropy_with_logits(layers["out"](context)[:, 0], y)
