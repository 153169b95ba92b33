# A function of its own: a parameter that two blocks of a segment share is handed over twice, and its gradient too.
# caught-by: test_output_and_gradients
import torch


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, blocks, x, *parameters):
        ctx.blocks = blocks
        ctx.states = torch.get_rng_state(), torch.cuda.get_rng_state_all()
        ctx.save_for_backward(x, *parameters)
        return run(blocks, x)

    @staticmethod
    def backward(ctx, gradient):
        x, *parameters = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with torch.enable_grad(), torch.random.fork_rng():
            torch.set_rng_state(ctx.states[0])
            torch.cuda.set_rng_state_all(ctx.states[1])
            output = run(ctx.blocks, x)
        return None, *torch.autograd.grad(output, [x, *parameters], gradient)


def run_blocks(blocks, x, kept, budget):
    count, length = len(blocks), 1
    if count * kept <= budget:
        return run(blocks, x)
    while count // length * x.nbytes + length * kept > budget:
        length += 1
    for start in range(0, count, length):
        segment = blocks[start : start + length]
        parameters = [each for block in segment for each in block.parameters()]
        x = Segment.apply(segment, x, *parameters)
    return x
