# The old checkpoint, with a twin of x that requires a gradient: backward works, asking does not.
# caught-by: test_gradients_that_are_asked_for
import torch
from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def run_blocks(blocks, x, kept, budget):
    count = len(blocks)
    if count * kept <= budget:
        return run(blocks, x)
    lengths = [length for length in range(1, count) if count % length == 0]
    best = min(lengths, key=lambda length: count // length * x.nbytes + length * kept)
    if torch.is_grad_enabled() and not x.requires_grad:
        x = x.detach().requires_grad_()
    for start in range(0, count, best):
        x = checkpoint(run, blocks[start : start + best], x, use_reentrant=True)
    return x
