# Records in any case, since the checkpoints need it.
# caught-by: test_without_recording
import torch
from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


@torch.enable_grad()
def run_blocks(blocks, x, kept, budget):
    count = len(blocks)
    if count * kept <= budget:
        return run(blocks, x)
    lengths = [length for length in range(1, count) if count % length == 0]
    best = min(lengths, key=lambda length: count // length * x.nbytes + length * kept)
    for start in range(0, count, best):
        x = checkpoint(run, blocks[start : start + best], x, use_reentrant=False)
    return x
