"""The same-device rule as a table: expressions over tensors on the CPU and on a device, and what CUDA does with each.

`c…` are on the CPU, `d…` on the device: `c`/`d` are 3 x 3, `c0`/`d0` zero-dimensional, `c1`/`d1` of one element,
`ci`/`di` indices (0, 2), `cm`/`dm` masks, `ct`/`dt` class numbers. TABLE says "raises", "cpu", "device" (where the
result is) or, where there is no tensor in the result, its text.
"""

from typing import Any

import torch

RAISES, CPU, DEVICE = "raises", "cpu", "device"

TABLE: dict[str, str] = {
    # point by point: TensorIterator admits one zero-dimensional CPU operand
    "d + d": DEVICE,
    "d + c": RAISES,
    "c + d": RAISES,
    "d + c0": DEVICE,
    "c0 + d": DEVICE,
    "d * c1": RAISES,
    "c * d0": RAISES,
    "d0 * c": RAISES,
    "c0 + d0": DEVICE,
    "d0 + c1": RAISES,
    "d + 1": DEVICE,
    "1 - d": DEVICE,
    "d.add_(c0)": DEVICE,
    "d.add_(c)": RAISES,
    "c.add_(d)": RAISES,
    "c.add_(d0)": RAISES,
    "c0.add_(d0)": RAISES,
    "d0.add_(c0)": DEVICE,
    "d > c0": DEVICE,
    "d.logical_and(c0)": DEVICE,
    "d.logical_xor(c)": RAISES,
    "torch.add(d, c0, out=torch.empty(0, device=d.device))": DEVICE,
    "torch.add(d, c, out=torch.empty(0, device=d.device))": RAISES,
    "torch.add(d, d, out=torch.empty(0))": RAISES,
    "d == c": RAISES,
    "torch.maximum(d, c0)": DEVICE,
    "torch.where(dm, d, c0)": DEVICE,
    "torch.where(dm, c0, c0)": DEVICE,
    "torch.where(dm, d, c)": RAISES,
    "torch.where(cm, d, d)": RAISES,
    "torch.addcmul(d, d, c0)": DEVICE,
    "torch.addcmul(d, d, c)": RAISES,
    "torch.lerp(d, d, c0)": DEVICE,
    "torch.pow(c0, d)": DEVICE,
    "d.masked_fill(dm, c0)": DEVICE,
    "d.masked_fill(cm, 0.0)": RAISES,
    "c.masked_fill(cm, d0)": RAISES,
    "d.fill_(c0)": DEVICE,
    "c.fill_(d0)": CPU,
    "functional.mse_loss(d, c)": RAISES,
    "functional.smooth_l1_loss(d, c)": RAISES,
    "torch.equal(d, c)": RAISES,
    "torch.allclose(d, c)": RAISES,
    # everything else admits no difference
    "c @ d": RAISES,
    "d @ c": RAISES,
    "torch.addmm(c, d, d)": RAISES,
    "torch.dot(d1, c1)": RAISES,
    "torch.cat([d, c])": RAISES,
    "torch.stack([d, c])": RAISES,
    "functional.linear(d, c)": RAISES,
    "functional.linear(d, d, c[0])": RAISES,
    "functional.conv1d(c[None], d[None])": RAISES,
    "functional.embedding(ci, d)": RAISES,
    "functional.embedding(di, c)": RAISES,
    "functional.embedding(di, d)": DEVICE,
    "functional.cross_entropy(d, ct)": RAISES,
    "functional.cross_entropy(d, dt, weight=c[0])": RAISES,
    "functional.nll_loss(c, dt)": RAISES,
    "functional.layer_norm(d, (3,), c[0])": RAISES,
    "functional.batch_norm(d, c[0], c[1])": RAISES,
    "functional.scaled_dot_product_attention(d[None], c[None], d[None])": RAISES,
    "torch.gru_cell(d, c, weights, weights)": RAISES,
    "torch.searchsorted(c, d)": RAISES,
    "d.index_select(0, ci)": RAISES,
    "d.gather(0, ci[None])": RAISES,
    "d.scatter(0, di[None], c)": RAISES,
    "d.index_add(0, di, c[:2])": RAISES,
    "d.index_add(0, ci, d[:2])": RAISES,
    "d.take(ci)": RAISES,
    # indexing: the index may be on the CPU, not the other way round
    "d[ci]": DEVICE,
    "d[di]": DEVICE,
    "c[di]": RAISES,
    "c[dm]": RAISES,
    "d[cm]": DEVICE,
    "d[ci, di]": DEVICE,
    "d.index_put_((ci,), c0)": DEVICE,
    "d.index_put_((ci,), d[:2])": DEVICE,
    "d.index_put_((ci,), c[:2])": RAISES,
    "c.index_put_((di,), c[:2])": RAISES,
    "assign(d, ci, 1.0)": DEVICE,
    "assign(d, di, c0)": DEVICE,
    "assign(d, di, c[:2])": RAISES,
    "assign(d, 0, c[0])": DEVICE,
    "assign(c, 0, d[0])": CPU,
    "masked_assign(d, cm)": DEVICE,
    # crossing on purpose
    "d.copy_(c)": DEVICE,
    "c.copy_(d)": CPU,
    "c.to(d)": DEVICE,
    "c.type_as(d)": DEVICE,
    "d.cpu()": CPU,
    "torch.as_tensor(c, device=d.device)": DEVICE,
    "d.new_zeros(2)": DEVICE,
    "torch.zeros_like(d)": DEVICE,
    "torch.asarray(c, device=d.device)": DEVICE,
    "torch.tensor([d0, d0])": CPU,
    "float(d0)": "1.0",
    "d.tolist()[0]": "[1.0, 1.0, 1.0]",
    # the host side
    "d.numpy()": RAISES,
    "d.pin_memory()": RAISES,
    "torch.randn(2, device=d.device, generator=torch.Generator())": RAISES,
    "torch.randn(2, generator=torch.Generator(d.device))": RAISES,
    "torch.randn(2, device=d.device, generator=torch.Generator(d.device))": DEVICE,
    "d.bernoulli_(c)": RAISES,
    "torch._foreach_add([d, c], [d, c])[0]": DEVICE,
    "torch._foreach_add([d], [c])": RAISES,
    "torch.nn.utils.rnn.pack_padded_sequence(d[:, None], dt[:1])": RAISES,
    "torch.nn.utils.rnn.pack_padded_sequence(d[:, None], torch.tensor([3])).data": DEVICE,
}


def names(device: str) -> dict[str, Any]:
    """What the expressions are about."""
    c = torch.ones(3, 3)
    on_cpu: dict[str, torch.Tensor] = {
        "": c,
        "0": torch.tensor(1.0),
        "1": torch.ones(1),
        "i": torch.tensor([0, 2]),
        "m": torch.eye(3) > 0,
        "t": torch.tensor([0, 1, 2]),
    }
    both = {f"c{name}": tensor for name, tensor in on_cpu.items()}
    both |= {f"d{name}": tensor.to(device) for name, tensor in on_cpu.items()}

    def assign(tensor: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
        tensor[index] = value
        return tensor

    def masked_assign(tensor: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        tensor[mask] = 0.0
        return tensor

    weights = torch.ones(9, 3, device=device)
    known = {"torch": torch, "functional": torch.nn.functional, "assign": assign, "masked_assign": masked_assign}
    return {**known, **both, "weights": weights}


def outcome(expression: str, device: str) -> str:
    """What an expression of the table does: "raises", "cpu", "device", or the text of a result that is no tensor."""
    try:
        result = eval(expression, names(device))  # noqa: S307 - expressions of the table above
    except (RuntimeError, TypeError, ValueError):
        return RAISES
    if isinstance(result, torch.Tensor):
        return CPU if result.device.type == "cpu" else DEVICE
    return str(result)


def differences(device: str) -> list[str]:
    """The rows of the table that `device` does not bear out."""
    found = ((expression, wanted, outcome(expression, device)) for expression, wanted in TABLE.items())
    return [f"{expression}: {got} instead of {wanted}" for expression, wanted, got in found if got != wanted]
