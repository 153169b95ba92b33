# Leaves as many blocks plain, at the end, as the budget allows; those before them run again, in segments as long.
import math

from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def run_blocks(blocks, x, kept, budget):
    plain = len(blocks)
    while math.ceil(len(blocks) / plain - 1) * x.nbytes + plain * kept > budget:
        plain -= 1
    again = blocks[: len(blocks) - plain]
    for start in range(0, len(again), plain):
        x = checkpoint(run, again[start : start + plain], x, use_reentrant=False)
    return run(blocks[len(again) :], x)
