# Halves within halves: little memory, and as many runs as there are levels.
# caught-by: test_no_block_runs_three_times
from torch.utils.checkpoint import checkpoint


def run_blocks(blocks, x, kept, budget):
    count = len(blocks)
    if count == 1 or count * kept <= budget:
        for block in blocks:
            x = block(x)
        return x
    for half in (blocks[: count // 2], blocks[count // 2 :]):
        x = checkpoint(run_blocks, half, x, kept, budget // 2, use_reentrant=False)
    return x
