"""Runs stacks of residual blocks forward and backward: small ones for their values, deep ones for memory and calls."""

import torch
from torch import nn


def train(
    candidate, device, _probe, *, layers, x, direction, kept, budget, leaf, asked=False, dropout=0.0, shared=False
):
    """Output and gradients of a small stack. `leaf`: x requires one; `asked`: by `torch.autograd.grad`.

    `shared`: all blocks have the first one's parameters.
    """
    blocks = nn.ModuleList(_Residual(*each, dropout) for each in layers).to(device)
    if shared:
        for each in blocks:
            each.weight, each.bias = blocks[0].weight, blocks[0].bias
    x = x.to(device).requires_grad_(leaf)
    output = candidate.run_blocks(blocks, x, kept, budget)
    loss = (output * direction.to(device)).sum()
    before = _random_state(device)
    wanted = [*blocks.parameters(), *([x] if leaf else [])]
    if asked and loss.requires_grad:
        gradients = torch.autograd.grad(loss, wanted, allow_unused=True)
    else:
        _backward(loss)
        gradients = [each.grad for each in wanted]
    return {
        "output": output.detach(),
        "gradients": gradients,
        "masks": [each.mask for each in blocks],
        "random_state_left_alone": torch.equal(before, _random_state(device)),
        "x_left_alone": x.requires_grad is leaf and (leaf or x.grad is None),
    }


def deep(candidate, device, probe, *, count, size, extra, budget):
    """Calls of the blocks of a deep stack, forward and backward; its memory is in the trace, its copies too."""
    blocks, x = _deep(count, extra, size, device)
    with probe.watch():
        _backward(candidate.run_blocks(blocks, x, x.nbytes + extra, budget).sum())
    return {"calls": [each.calls for each in blocks], "trained": [each.scale.grad is not None for each in blocks]}


def evaluate(candidate, device, _probe, *, count, size, extra, budget):
    """The same without a backward pass, inside `torch.no_grad()`."""
    blocks, x = _deep(count, extra, size, device)
    with torch.no_grad():
        output = candidate.run_blocks(blocks, x, x.nbytes + extra, budget)
    return {"calls": [each.calls for each in blocks], "output": output}


def _backward(loss):
    """Without a graph there is nothing to do, and the missing gradients tell it."""
    if loss.requires_grad:
        loss.backward()


def _random_state(device):
    """Of the CPU's generator, and of the device's own where it has one."""
    states = [torch.get_rng_state()]
    if device.type != "cpu":
        states.append(torch.get_device_module(device).get_rng_state().cpu())
    return torch.cat(states)


def _deep(count, extra, size, device):
    """Blocks, and a tensor of so many bytes; Apple's accelerator has no float64."""
    dtype = torch.float32 if device.type == "mps" else torch.float64
    blocks = nn.ModuleList(_Greedy(extra) for _ in range(count)).to(device, dtype)
    return blocks, torch.ones(size // dtype.itemsize, device=device, dtype=dtype)


class _Residual(nn.Module):
    """What it gets, and something of that; the mask of its first call is kept, to be told.

    Which elements are dropped is drawn on the device, how much the others count on the CPU.
    """

    def __init__(self, weight, bias, dropout):
        super().__init__()
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)
        self.dropout = dropout
        self.mask = None

    def forward(self, x):
        branch = torch.tanh(nn.functional.linear(x, self.weight, self.bias))
        if self.dropout:
            mask = (torch.rand(x.shape, device=x.device) >= self.dropout).to(x.dtype) * (0.5 + float(torch.rand(())))
            self.mask = mask if self.mask is None else self.mask
            branch = branch * mask
        return x + branch


class _Greedy(nn.Module):
    """Keeps what it gets, and a large buffer, until its backward pass."""

    def __init__(self, extra):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.calls = 0
        self._extra = extra

    def forward(self, x):
        self.calls += 1
        return _Saves.apply(x, self.scale, self._extra)


class _Saves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, extra):
        ctx.save_for_backward(x, scale, torch.empty(extra, dtype=torch.uint8, device=x.device))
        return x * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale, _ = ctx.saved_tensors
        return grad * scale, x[0] * grad[0], None
