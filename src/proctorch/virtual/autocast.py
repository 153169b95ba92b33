"""What autocast does on CUDA, as a table.

CUDA's lists need no simulation: they are C++ on the AutocastCUDA key (`aten/src/ATen/autocast_mode.cpp`), which a tensor on
the device has like any other. Here is what they amount to, so that tests and a real device can be compared with it.
Operands `x` and `y` are single precision, `h` is of the low one. "low" is autocast's dtype, "single" float32.
"""

from typing import Any

import torch

LOW, SINGLE = "low", "single"

TABLE: dict[str, str] = {
    # to low precision
    "x @ y": LOW,
    "torch.mm(x, y)": LOW,
    "torch.bmm(x[None], y[None])": LOW,
    "torch.addmm(x, x, y)": LOW,
    "torch.matmul(x, y[0])": LOW,
    "functional.linear(x, y)": LOW,
    "functional.conv1d(x[None], y[..., None])": LOW,
    "functional.conv2d(x[None, None], y[None, None])": LOW,
    "functional.scaled_dot_product_attention(x[None], x[None], x[None])": LOW,
    "torch.einsum('ij,jk->ik', x, y)": LOW,
    "torch.linalg.multi_dot([x, y])": LOW,
    "torch.prelu(x, y[0, :1])": LOW,
    "torch.nn.Linear(3, 2, device=x.device)(x)": LOW,
    "torch.nn.GRUCell(3, 2, device=x.device)(x)": LOW,
    # to single precision
    "torch.softmax(h, -1)": SINGLE,
    "torch.log_softmax(h, -1)": SINGLE,
    "torch.exp(h)": SINGLE,
    "torch.log(h)": SINGLE,
    "torch.pow(h, 2)": SINGLE,
    "h.sum()": SINGLE,
    "h.prod()": SINGLE,
    "h.cumsum(0)": SINGLE,
    "h.norm()": SINGLE,
    "torch.rsqrt(h)": SINGLE,
    "functional.layer_norm(h, (3,))": SINGLE,
    "functional.group_norm(h[None], 3)": SINGLE,
    "functional.cross_entropy(h, t)": SINGLE,
    "functional.nll_loss(h, t)": SINGLE,
    "functional.mse_loss(h, h)": SINGLE,
    "functional.l1_loss(h, h)": SINGLE,
    "functional.smooth_l1_loss(h, h)": SINGLE,
    "functional.binary_cross_entropy_with_logits(h, h)": SINGLE,
    "functional.kl_div(h, h, reduction='sum')": SINGLE,
    "functional.cosine_similarity(h, h)": SINGLE,
    "functional.softplus(h)": SINGLE,
    # to the widest of the operands
    "torch.addcmul(x, h, h)": SINGLE,
    "torch.cat([x, h])": SINGLE,
    "torch.stack([h, h])": LOW,
    "torch.dot(x[0], h[0])": SINGLE,
    # on neither list: as it comes
    "functional.relu(h)": LOW,
    "functional.gelu(h)": LOW,
    "torch.tanh(h)": LOW,
    "torch.sigmoid(h)": LOW,
    "h.mean()": LOW,
    "h.amax()": LOW,
    "h + h": LOW,
    "h + x": SINGLE,
    "functional.relu(x)": SINGLE,
    "functional.dropout(h, 0.0)": LOW,
    "functional.batch_norm(h, None, None, training=True)": LOW,
    "functional.max_pool1d(h[None], 2)": LOW,
}


def outcome(expression: str, device: str, dtype: torch.dtype) -> str:
    """The dtype of an expression's result under autocast: "low", "single", or its name."""
    x = torch.rand(3, 3, device=device)
    known: dict[str, Any] = {"torch": torch, "functional": torch.nn.functional, "x": x, "y": x + 1, "h": x.to(dtype)}
    known["t"] = torch.tensor([0, 1, 2], device=device)
    with torch.autocast(torch.device(device).type, dtype=dtype):
        result = eval(expression, known)  # noqa: S307 - expressions of the table above
    return {dtype: LOW, torch.float32: SINGLE}.get(result.dtype, str(result.dtype))
