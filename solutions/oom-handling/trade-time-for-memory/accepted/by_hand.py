# A function of its own: it keeps the input and the random state, and asks the second run for its gradients.
import torch


def run(blocks, x):
    for block in blocks:
        x = block(x)
    return x


class Segment(torch.autograd.Function):
    @staticmethod
    def forward(ctx, blocks, x, *parameters):
        ctx.blocks = blocks
        ctx.cuda = [x.device] if x.is_cuda else []
        ctx.states = [torch.get_rng_state(), *map(torch.cuda.get_rng_state, ctx.cuda)]
        ctx.save_for_backward(x, *parameters)
        return run(blocks, x)

    @staticmethod
    def backward(ctx, gradient):
        x, *parameters = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with torch.enable_grad(), torch.random.fork_rng(ctx.cuda):
            torch.set_rng_state(ctx.states[0])
            for device, state in zip(ctx.cuda, ctx.states[1:]):
                torch.cuda.set_rng_state(state, device)
            output = run(ctx.blocks, x)
        return None, *torch.autograd.grad(output, [x, *parameters], gradient)


def run_blocks(blocks, x, kept, budget):
    count, length = len(blocks), 1
    if count * kept <= budget:
        return run(blocks, x)
    while count % length or count // length * x.nbytes + length * kept > budget:
        length += 1
    for start in range(0, count, length):
        segment = blocks[start : start + length]
        x = Segment.apply(segment, x, *segment.parameters())
    return x
