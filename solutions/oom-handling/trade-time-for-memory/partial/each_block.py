# A checkpoint for each block: the inputs of all blocks are kept.
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
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x
