# Runs without recording, to keep nothing, and hopes for a gradient.
# caught-by: test_output_and_gradients
import torch


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def run_blocks(blocks, x, kept, budget):
    count = len(blocks)
    if count * kept <= budget:
        return run(blocks, x)
    with torch.no_grad():
        return run(blocks, x)
