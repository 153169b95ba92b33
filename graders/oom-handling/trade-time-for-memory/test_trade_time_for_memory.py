"""What is demanded of `run_blocks`."""

import pytest
import torch
from torch.nn.functional import linear

from proctorch.judge.checks import close, require

#: Bytes of a tensor between two deep blocks.
BETWEEN = 4096
#: Deep stacks: how many blocks, and how many times the tensor between them each keeps.
STACKS = [(36, 2), (60, 20), (12, 40), (2, 40)]


def dtype_on(device):
    """Apple's accelerator has no float64."""
    return torch.float32 if device.type == "mps" else torch.float64


def least(count, between, kept):
    """The bytes that segments of the best length need, of those that divide the number of blocks."""
    lengths = [length for length in range(1, count + 1) if count % length == 0]
    return min(between * count // length + kept * length for length in lengths)


def task(seed, device, *, fits, count=None):
    """A stack of 9 or 12 small blocks and what goes through it, with a budget for all of it or for a part."""
    dice = torch.Generator().manual_seed(seed)
    rows, features = (int(torch.randint(low, high, (), generator=dice)) for low, high in ((3, 7), (4, 9)))
    count = count or 9 + 3 * (seed % 2)

    def random(*shape):
        return torch.randn(*shape, generator=dice, dtype=torch.float64).to(dtype_on(device))

    x = random(rows, features)
    return {
        "layers": [[random(features, features) / features**0.5, random(features)] for _ in range(count)],
        "x": x,
        "direction": random(rows, features),
        "kept": 3 * x.nbytes,
        "budget": count * 3 * x.nbytes if fits else least(count, x.nbytes, 3 * x.nbytes),
    }


def loop(given, masks=None):
    """The output of the loop, and the gradients of all parameters and of x, in float64."""
    layers = given["layers"][:1] if "shared" in given else given["layers"]
    leaves = [each.double().requires_grad_() for layer in layers for each in layer]
    start = given["x"].double().requires_grad_()
    x = start
    for at in range(len(given["layers"])):
        weight, bias = leaves[:2] if "shared" in given else leaves[2 * at : 2 * at + 2]
        branch = torch.tanh(linear(x, weight, bias))
        x = x + (branch if masks is None else branch * masks[at])
    return x.detach(), torch.autograd.grad((x * given["direction"].double()).sum(), [*leaves, start])


def right(seen, given, device, masks=None):
    """Output and gradients are those of the loop; as many gradients as were wanted."""
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype_on(device) is torch.float64 else {"rtol": 1e-3, "atol": 1e-4}
    output, gradients = loop(given, masks)
    close(seen.tensor("output", device=device, what="the output"), output, "the output", **tolerance)
    told = seen.list("gradients")
    require(len(told) >= len(gradients) - 1, "gradients of parameters are missing")
    for at, expected in zip(range(len(told)), gradients, strict=False):
        name = "the gradient of x" if at == len(gradients) - 1 else "the gradient of a parameter"
        require(told[at] is not None, f"{name} is missing", detail=f"of number {at}")
        close(seen.tensor("gradients", at, what=name), expected, name, **tolerance)


@pytest.mark.parametrize("what", ["all fits", "not all fits", "shared parameters"])
def test_output_and_gradients(run, shared_seed, device, what):
    """Output, gradients of parameters and the gradient of x are those of the loop."""
    given = task(shared_seed, device, fits=what == "all fits")
    if what == "shared parameters":  # of 12 such blocks, only segments of two fit
        given = task(shared_seed, device, fits=False, count=12) | {"shared": True}
    right(run("train", **given, leaf=True), given, device)


def test_x_without_a_gradient(run, shared_seed, device):
    """Where x requires no gradient, all parameters have one all the same, and x still requires none."""
    given = task(shared_seed, device, fits=False)
    seen = run("train", **given, leaf=False)
    right(seen, given, device)
    require(seen.flag("x_left_alone"), "`x` required no gradient, and now it does or has one")


def test_gradients_that_are_asked_for(run, shared_seed, device):
    """`torch.autograd.grad` gives the gradients of the parameters."""
    given = task(shared_seed, device, fits=False)
    right(run("train", **given, leaf=False, asked=True), given, device)


def test_the_same_random_numbers(run, shared_seed, device):
    """With dropout, the gradients are those with the masks of the forward pass, and the generator is where it was."""
    given = task(shared_seed, device, fits=False)
    seen = run("train", **given, leaf=False, dropout=0.5)
    shape = tuple(given["x"].shape)
    dtype = str(dtype_on(device)).removeprefix("torch.")
    masks = [
        seen.tensor("masks", at, what="a mask of the forward pass", shape=shape, dtype=dtype).double()
        for at in range(len(given["layers"]))
    ]
    right(seen, given, device, masks)
    require(seen.flag("random_state_left_alone"), "after the backward pass, the random generator is not where it was")


def deep(run, scenario, count, times, budget):
    return run(scenario, count=count, size=BETWEEN, extra=(times - 1) * BETWEEN, budget=budget)


def calls_of(seen, count):
    calls = seen.list("calls")
    require(len(calls) == count and all(type(each) is int for each in calls), "the blocks were not called")
    require(min(calls) >= 1, "a block was not called")
    return calls


@pytest.mark.parametrize(("count", "times"), STACKS)
@pytest.mark.parametrize("room", ["the least", "more"])
def test_it_stays_within_the_budget(run, device, count, times, room):
    """The peak of what is made is within the budget, for the smallest one that segments allow and for a larger one."""
    kept = times * BETWEEN
    budget = least(count, BETWEEN, kept)
    if room == "more":
        budget = (budget + count * kept) // 2
    seen = deep(run, "deep", count, times, budget)
    calls_of(seen, count)
    require(all(seen.list("trained")), "a block has no gradient")
    peak = seen.trace().peak.get(device.torch, 0)
    require(
        BETWEEN + peak <= budget + 3 * BETWEEN,  # x was there before
        f"{count} blocks keep more than the budget at some time",
        detail=f"{peak / BETWEEN:.1f} tensors, with a budget of {budget / BETWEEN:.1f}",
    )


@pytest.mark.parametrize(("count", "times"), STACKS)
def test_what_fits_runs_once(run, count, times):
    """Each block runs once if the budget is just what all blocks keep."""
    calls = calls_of(deep(run, "deep", count, times, count * times * BETWEEN), count)
    require(max(calls) == 1, "all fits, and a block runs twice")


@pytest.mark.parametrize(("count", "times"), STACKS)
def test_no_block_runs_three_times(run, count, times):
    """Each block runs once or twice if the budget is the smallest."""
    calls = calls_of(deep(run, "deep", count, times, least(count, BETWEEN, times * BETWEEN)), count)
    require(max(calls) <= 2, f"a block runs {max(calls)} times")


def test_nothing_leaves_the_device(run, device):
    """No tensor is copied from or to the device."""
    count, times = STACKS[0]
    seen = deep(run, "deep", count, times, least(count, BETWEEN, times * BETWEEN))
    calls_of(seen, count)
    crossing = [copy for copy in seen.trace().copies if device.torch in (copy.source, copy.target)]
    lines = [copy.line for copy in crossing if copy.line is not None]
    require(not crossing, "a tensor is copied to another device, or from it", line=next(iter(lines), None))


@pytest.mark.parametrize("fits", [True, False], ids=["all fits", "not all fits"])
def test_without_recording(run, fits):
    """Inside no_grad each block runs once, and the output has no graph."""
    count, times = STACKS[0]
    kept = times * BETWEEN
    seen = deep(run, "evaluate", count, times, count * kept if fits else least(count, BETWEEN, kept))
    require(max(calls_of(seen, count)) == 1, "without recording, a block runs twice")
    require(not seen.received("output", what="the output").requires_grad, "without recording, the output has a graph")
