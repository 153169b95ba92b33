# One checkpoint around the whole stack: all of it is there again in the backward pass.
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
    return checkpoint(run, blocks, x, use_reentrant=False)
