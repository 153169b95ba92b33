# The longest segments that fit, if an element of x had four bytes.
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
    between = 4 * x.numel()
    lengths = [length for length in range(1, count) if count % length == 0]
    best = max(length for length in lengths if count // length * between + length * kept <= budget)
    for start in range(0, count, best):
        x = checkpoint(run, blocks[start : start + best], x, use_reentrant=False)
    return x
