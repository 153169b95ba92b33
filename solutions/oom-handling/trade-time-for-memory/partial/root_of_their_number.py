# Segments of the root of n, by the book, whatever a block keeps.
# caught-by: test_it_stays_within_the_budget
import math

from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def run_blocks(blocks, x, kept, budget):
    count = len(blocks)
    if count * kept <= budget:
        return run(blocks, x)
    length = math.isqrt(count)
    for start in range(0, count, length):
        x = checkpoint(run, blocks[start : start + length], x, use_reentrant=False)
    return x
