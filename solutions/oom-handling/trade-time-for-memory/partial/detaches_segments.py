# Detaches between segments, so that no graph is large: only the last one is trained.
# caught-by: test_output_and_gradients, test_x_without_a_gradient
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
    for start in range(0, count, best):
        x = run(blocks[start : start + best], x.detach())
    return x
