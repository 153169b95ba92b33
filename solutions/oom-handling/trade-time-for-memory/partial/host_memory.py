# Lets the host keep it all.
# caught-by: test_nothing_leaves_the_device
# only: virtual, cuda, mps, xpu
import contextlib

from torch.autograd.graph import save_on_cpu


def run_blocks(blocks, x, kept, budget):
    fits = len(blocks) * kept <= budget
    with contextlib.nullcontext() if fits else save_on_cpu():
        for block in blocks:
            x = block(x)
    return x
