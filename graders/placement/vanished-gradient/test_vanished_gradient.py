"""What is demanded of `learn_perturbation`."""

import torch
from torch.nn.functional import cross_entropy, linear

from proctorch.judge.checks import close, require

#: What float32 and the order of its sums explain many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def task(seed, *, momentum):
    """A classifier's weights, images that it sees, and where and how the perturbation is learned."""
    dice = torch.Generator().manual_seed(seed)
    rows, channels, height, width, hidden, classes, steps = (
        int(torch.randint(low, high, (), generator=dice))
        for low, high in ((3, 7), (1, 4), (2, 5), (2, 5), (5, 9), (3, 6), (4, 7))
    )
    features = channels * height * width
    return {
        "weights": [
            torch.randn(hidden, features, generator=dice) / features**0.5,
            torch.randn(hidden, generator=dice) / 10,
            2 * torch.randn(classes, hidden, generator=dice) / hidden**0.5,
            torch.randn(classes, generator=dice) / 10,
        ],
        "images": torch.randn(rows, channels, height, width, generator=dice),
        "labels": torch.randint(0, classes, (rows,), generator=dice),
        "start": torch.randn(channels, height, width, generator=dice) / 5,
        "steps": steps,
        "rate": 0.5 + float(torch.rand((), generator=dice)) / 2,
        "momentum": momentum,
    }


def learned(given):
    """The perturbation after the last step, in float64."""
    wide, bias, narrow, shift = (each.double() for each in given["weights"])
    now = given["start"].double()
    speed = torch.zeros_like(now)
    for _ in range(given["steps"]):
        leaf = now.detach().requires_grad_()
        hidden = torch.tanh(linear((given["images"].double() + leaf).flatten(1), wide, bias))
        loss = cross_entropy(linear(hidden, narrow, shift), given["labels"])
        (grad,) = torch.autograd.grad(loss, leaf)
        speed = given["momentum"] * speed - grad
        now = now - given["rate"] * speed
    return now


def right(seen, given, device):
    """What is returned is the perturbation that the optimizer must have come to."""
    expected, what = learned(given), "the perturbation"
    shape = tuple(expected.shape)
    mine = seen.tensor("result", what=what, dtype="float32", shape=shape, device=device)
    start = given["start"].double()
    moved = float((mine.double() - start).norm()) > 1e-3 * float((expected - start).norm())
    require(moved, "the perturbation is still where it started")
    close(mine, expected, what, **TOLERANCE)


def all_stepped_on(seen, given, where):
    """At each step the optimizer holds one tensor, a leaf on the device `where`, and its gradient is there too."""
    steps = len(seen.list("stepped"))
    require(steps == given["steps"], f"for {given['steps']} steps, the optimizer steps {steps} times")
    for step in range(steps):
        held = len(seen.list("stepped", step))
        require(held == 1, f"the optimizer holds {held} tensors, not the perturbation alone")
        leaf, grad = (seen.dict("stepped", step, 0, which) for which in (0, 1))
        on = leaf.get("device")
        require(on == where, f"the tensor that the optimizer holds is on {on}, not on {where} as the images are")
        require("device" in grad, "the optimizer steps, and the tensor that it holds has no gradient")
        require(grad.get("device") == where, f"the gradient is on {grad.get('device')}, not on {where}")


def test_it_learns(run, shared_seed, device):
    """With plain gradient ascent the right perturbation is learned, on the device of the images, without a graph."""
    given = task(shared_seed, momentum=0.0)
    seen = run("learn", **given)
    all_stepped_on(seen, given, device.torch)
    right(seen, given, device)
    require(not seen.received("result").requires_grad, "the perturbation that is returned requires grad")


def test_the_optimizer_keeps_its_memory(run, shared_seed, device):
    """With momentum the right perturbation is learned: the optimizer remembers from step to step."""
    given = task(shared_seed, momentum=0.9)
    right(run("learn", **given), given, device)


def test_it_learns_on_another_device(run, shared_seed):
    """On the meta device, the optimizer steps a tensor that is there, with its gradient, and the result is there."""
    given = task(shared_seed, momentum=0.9)
    seen = run("learn_elsewhere", **given)
    all_stepped_on(seen, given, "meta")
    told = seen.dict("result", what="the perturbation")
    require("device" in told, "the perturbation is no tensor")
    require(told.get("device") == "meta", f"the perturbation is on {told.get('device')}, not where the images are")


def test_the_start_is_left_alone(run, shared_seed):
    """On the CPU, where nothing has to be moved, the start has its values afterwards and requires no grad."""
    given = task(shared_seed, momentum=0.0)
    seen = run("learn_on_the_cpu", **given)
    start = seen.tensor("start", dtype="float32", shape=tuple(given["start"].shape))
    require(torch.equal(start, given["start"]), "on the CPU, the start has other values afterwards")
    require(seen.get("start_described", "requires_grad") is False, "on the CPU, the start requires grad afterwards")


def test_the_start_crosses_once(run, shared_seed, device):
    """To the accelerator the start is copied once at most; nothing else crosses, nothing comes back or is read."""
    given = task(shared_seed, momentum=0.9)
    trace = run("learn", **given).trace()
    crossed = [each for each in trace.copies if each.source != each.target]
    back = [each.line for each in crossed if each.target != device.torch]
    back += [each.line for each in trace.reads if each.device == device.torch]
    require(not back, "a number is read, or something is copied back from the device", line=next(iter(back), None))
    size = given["start"].numel() * given["start"].element_size()
    told = [each.bytes for each in crossed]
    require(
        told in ([], [size]),
        f"{len(told)} copies with {sum(told)} bytes go to the device, not the start once",
        line=crossed[-1].line if crossed else None,
        detail=f"the start has {size} bytes",
    )
