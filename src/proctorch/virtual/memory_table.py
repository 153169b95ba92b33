"""What memory CUDA's allocator counts, as a table: expressions, and the bytes that are live while their result is.

Blocks are multiples of 512 bytes. `x` is a tensor of 1 MiB on the device, made before and not counted; `m` is a module of
two linear layers of 256 x 256 without bias, there too.
"""

import gc
from typing import Any

import torch

KIB, MIB = 1 << 10, 1 << 20

TABLE: dict[str, int] = {
    "torch.empty(0, device=device)": 0,
    "torch.empty(1, device=device)": 512,
    "torch.empty(128, device=device)": 512,
    "torch.empty(129, device=device)": 1 * KIB,
    "torch.empty(129, dtype=torch.uint8, device=device)": 512,
    "torch.zeros(256, 1024, device=device)": 1 * MIB,
    "torch.zeros(256, 1024, dtype=torch.float64, device=device)": 2 * MIB,
    "torch.zeros(256, 1024, dtype=torch.float16, device=device)": 512 * KIB,
    "x.view(-1)": 0,
    "x.t()": 0,
    "x[3:5]": 0,
    "x.expand(4, 256, 1024)": 0,
    "x.detach()": 0,
    "x.reshape(1024, 256)": 0,
    "x.t().contiguous()": 1 * MIB,
    "x.clone()": 1 * MIB,
    "x.half()": 512 * KIB,
    "x.double()": 2 * MIB,
    "x.to(device)": 0,
    "x.cpu()": 0,
    "x.cpu().to(device)": 1 * MIB,
    "x + 1": 1 * MIB,
    "x + x.t().reshape(256, 1024)": 1 * MIB,
    "x.add_(1)": 0,
    "x > 0": 256 * KIB,
    "x.sum()": 512,
    "x.sum(0)": 4 * KIB,
    "x.argmax(1)": 2 * KIB,
    "x.topk(2, 1)": 2 * KIB + 4 * KIB,
    "x.chunk(4)": 0,
    "torch.cat([x, x])": 2 * MIB,
    "torch.stack([x, x])": 2 * MIB,
    "x[torch.tensor([0, 1], device=device)]": 8 * KIB,
    "x @ x.t()": 256 * KIB,
    "torch.empty(256, 1024, device=device).view(-1)[5:6]": 1 * MIB,  # a view keeps all of its storage
    "x.new_empty(10).resize_(1000)": 4 * KIB,
    "x.detach().requires_grad_().exp()": 1 * MIB,  # exp saves its result, which is there anyway
    "(x.detach().requires_grad_() * 2).exp()": 1 * MIB,  # the product is not saved
    "x.detach().requires_grad_().exp().exp()": 2 * MIB,  # both results are saved
    "x.detach().requires_grad_().relu()": 1 * MIB,
    "m(x[:, :256])": 512 * KIB,  # the first layer's result is saved for the second layer's weight
    "without_grad(m, x[:, :256])": 256 * KIB,
    "m(x[:, :256]).detach()": 256 * KIB,
    "gradients(m, x[:, :256])": 512 * KIB,
}


def names(device: str) -> dict[str, Any]:
    """What the expressions are about."""
    x = torch.rand(256, 1024, device=device)
    m = torch.nn.Sequential(torch.nn.Linear(256, 256, bias=False), torch.nn.Linear(256, 256, bias=False)).to(device)

    def without_grad(module: torch.nn.Module, batch: torch.Tensor) -> Any:
        with torch.no_grad():
            return module(batch)

    def gradients(module: torch.nn.Module, batch: torch.Tensor) -> list[Any]:
        module(batch).sum().backward()
        found = [parameter.grad for parameter in module.parameters()]
        module.zero_grad()
        return found

    return {"torch": torch, "device": device, "x": x, "m": m, "without_grad": without_grad, "gradients": gradients}


def live_bytes(expression: str, device: str) -> int:
    """How many more bytes are live on `device` while the result of the expression is held."""
    known = names(device)
    if "@" in expression or "m(" in expression:  # a real device keeps a workspace for the first product, which is not meant
        known["x"][:, :256] @ known["m"][0].weight
    gc.collect()
    before = torch.cuda.memory_allocated(device)
    result = eval(expression, known)  # noqa: S307 - expressions of the table above
    live = torch.cuda.memory_allocated(device) - before
    del result
    return live


def differences(device: str) -> list[str]:
    """The rows of the table that `device` does not bear out."""
    found = ((expression, wanted, live_bytes(expression, device)) for expression, wanted in TABLE.items())
    return [f"{expression}: {got} bytes instead of {wanted}" for expression, wanted, got in found if got != wanted]
