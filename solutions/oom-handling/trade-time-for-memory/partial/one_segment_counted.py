# Takes the longest segment that fits by itself, and forgets the inputs of the others.
# caught-by: test_it_stays_within_the_budget
from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def run_blocks(blocks, x, kept, budget):
    count = len(blocks)
    if count * kept <= budget:
        return run(blocks, x)
    length = budget // kept
    for start in range(0, count, length):
        x = checkpoint(run, blocks[start : start + length], x, use_reentrant=False)
    return x
