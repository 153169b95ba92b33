# Leaves as many blocks plain, at the end, as the budget allows: the fewest that run again.
import math

from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def plan(count, between, kept, budget):
    """How many blocks run again, and in segments of which length: the first way that fits, from none on."""
    for again in range(count + 1):
        for length in range(1, again + 1):
            if math.ceil(again / length) * between + max(length, count - again) * kept <= budget:
                return again, length
    raise ValueError(f"{count} blocks do not fit into {budget} bytes in any way")


def run_blocks(blocks, x, kept, budget):
    again, length = (0, 1) if len(blocks) * kept <= budget else plan(len(blocks), x.nbytes, kept, budget)
    for start in range(0, again, length):
        x = checkpoint(run, blocks[start : min(start + length, again)], x, use_reentrant=False)
    return run(blocks[again:], x)
