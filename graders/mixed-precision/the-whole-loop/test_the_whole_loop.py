"""What is demanded of `train`, `checkpoint` and `resume`."""

import math

import pytest
import torch
from torch.nn.functional import linear, mse_loss

from proctorch.judge.checks import fail, require
from proctorch.wire import Named

SCALE, LOW, HIGH = 2.0**10, 2.0**4, 2.0**12
#: A limit that shortens nothing.
FAR = 1e6
#: How far an update may be off, relative to its own length.
TOLERANCES = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-4}
MODES = [("float16", SCALE), ("bfloat16", None), ("float32", None)]


def task(seed, groups_wanted):
    """The weights of a network, and groups of micro-batches of different sizes for it."""
    dice = torch.Generator().manual_seed(seed)
    features, hidden, outputs = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((4, 9), (5, 10), (2, 5))
    )
    weights = [
        torch.randn(hidden, features, generator=dice) / features**0.5,
        torch.randn(hidden, generator=dice) / 10,
        torch.randn(outputs, hidden, generator=dice) / (4 * hidden**0.5),
        torch.randn(outputs, generator=dice) / 10,
    ]

    groups = []
    for _ in range(groups_wanted):
        count = int(torch.randint(2, 4, (), generator=dice))
        sizes = [*torch.randint(2, 5, (count,), generator=dice).tolist(), 1]
        groups.append(
            [
                [
                    torch.randn(rows, features, generator=dice),
                    torch.randn(rows, outputs, generator=dice) * rows / 4,
                ]
                for rows in sizes
            ]
        )
    return weights, groups


def hopeless(group, seed, label=1e10):
    """The group with one micro-batch whose gradients are not finite in float16. By default all losses are finite."""
    at = seed % len(group)
    return [[x, torch.full_like(y, label)] if here == at else [x, y] for here, (x, y) in enumerate(group)]


class Reference:
    """The training in float64, each group in one piece."""

    def __init__(self, weights, *, limit=FAR, decay=False):
        self.leaves = [each.double().requires_grad_() for each in weights]
        self.optimizer = torch.optim.SGD(self.leaves, lr=0.5, momentum=0.5)
        self.limit, self.decay, self.steps = limit, decay, 0

    def step(self, group):
        """The weights after a step, as one long row."""
        x, y = (torch.cat([pair[at] for pair in group]).double() for at in (0, 1))
        wide, bias, narrow, shift = self.leaves
        self.optimizer.zero_grad()
        out = linear(torch.tanh(linear(x, wide, bias)), narrow, shift)
        (mse_loss(out, y) + out.mean() / 8).backward()
        torch.nn.utils.clip_grad_norm_(self.leaves, self.limit)
        self.optimizer.param_groups[0]["lr"] = self.rate
        self.optimizer.step()
        self.steps += 1
        return row(self.leaves)

    @property
    def rate(self):
        return 0.5 / (1 + self.steps) if self.decay else 0.5


def row(tensors):
    return torch.cat([each.detach().flatten().double() for each in tensors])


def weights_after(seen, weights, *path):
    shapes = [tuple(each.shape) for each in weights]
    return row(
        seen.tensor(*path, "weights", at, what="a weight after training", dtype="float32", shape=shape)
        for at, shape in enumerate(shapes)
    )


def moved(seen, weights, expected, what, dtype, *path):
    """The way from the first weights to those at `path` is the expected one."""
    way, right = weights_after(seen, weights, *path) - row(weights), expected - row(weights)
    error = float((way - right).norm() / right.norm())
    detail = f"relative error {error:.3g}, {float(way.norm() / right.norm()):.3g} times the expected length"
    require(error <= TOLERANCES[dtype], what, detail=detail)


def test_a_step_is_that_of_the_whole_group(run, shared_seed):
    """In float32, micro-batches of different sizes give the step that their group in one piece would give."""
    weights, groups = task(shared_seed, 1)
    seen = run("train", weights=weights, groups=groups, dtype="float32", limit=FAR)
    expected = Reference(weights).step(groups[0])
    moved(seen, weights, expected, "the step is not that of the whole group in one piece", "float32", "after", 0)


@pytest.mark.parametrize(("dtype", "scale"), MODES)
def test_groups_in_a_row(run, shared_seed, dtype, scale):
    """Several groups in one call, the last of one micro-batch, give a step each, with the rate of the schedule."""
    weights, groups = task(shared_seed, 3)
    groups[-1] = groups[-1][-1:]
    seen = run("train", weights=weights, groups=groups, dtype=dtype, limit=FAR, scale=scale, decay=True, at_once=True)
    reference = Reference(weights, decay=True)
    for group in groups:
        expected = reference.step(group)
    require(seen.number("after", 0, "steps") == len(groups), "the optimizer does not step once for each group")
    moved(seen, weights, expected, f"after several groups in {dtype} the weights are wrong", dtype, "after", 0)


@pytest.mark.parametrize(("dtype", "scale"), MODES)
def test_the_precision_is_the_given_one(run, shared_seed, dtype, scale):
    """The forward pass computes in the given dtype."""
    weights, groups = task(shared_seed, 3)
    seen = run("train", weights=weights, groups=groups, dtype=dtype, limit=FAR, scale=scale, decay=True, at_once=True)
    given = [each.text for each in seen.list("linear_outputs") if isinstance(each, Named)]
    require(given and {*given} == {f"torch.{dtype}"}, f"the forward pass does not compute in {dtype}")


@pytest.mark.parametrize(
    ("dtype", "scale"), [("float16", LOW), ("float16", HIGH), ("bfloat16", None), ("float32", None)]
)
def test_clipping_is_in_true_units(run, seed, dtype, scale):
    """The true gradient of the whole group is shortened to the limit, whatever the scale is, and without one."""
    weights, groups = task(seed, 1)
    limit = float((Reference(weights).step(groups[0]) - row(weights)).norm() / 0.5 * 0.3)
    seen = run("train", weights=weights, groups=groups, dtype=dtype, limit=limit, scale=scale)
    expected = Reference(weights, limit=limit).step(groups[0])
    what = "the step is not the true gradient, shortened to the limit"
    moved(seen, weights, expected, what, dtype, "after", 0)


@pytest.mark.parametrize("label", [1e10, 1e30, math.nan], ids=["finite loss", "infinite loss", "no number"])
def test_an_overflow_changes_no_weight(run, seed, label):
    """A group with a gradient that is not finite moves no weight, by momentum neither, whatever its loss is."""
    weights, groups = task(seed, 2)
    given = [groups[0], hopeless(groups[1], seed, label)]
    seen = run("train", weights=weights, groups=given, dtype="float16", limit=FAR, scale=SCALE)
    before, after = (weights_after(seen, weights, "after", at) for at in (0, 1))
    require(torch.equal(before, after), "a group with gradients that are not finite changes the weights")


@pytest.mark.parametrize("at_once", [False, True], ids=["a call each", "one call"])
def test_training_goes_on_after_an_overflow(run, seed, at_once):
    """The group after a skipped one takes the step that it would have taken without it, with the momentum from before.

    Gradients that are there before the first group have no part in it.
    """
    weights, groups = task(seed, 3)
    given = [groups[0], hopeless(groups[1], seed), groups[2]]
    how = {"dtype": "float16", "limit": FAR, "scale": SCALE, "at_once": at_once, "left": True}
    seen = run("train", weights=weights, groups=given, **how)
    reference = Reference(weights)
    reference.step(groups[0])
    expected, last = reference.step(groups[2]), 0 if at_once else 2
    moved(seen, weights, expected, "the step after a skipped one is wrong", "float16", "after", last)


def test_the_scheduler_counts_steps(run, seed):
    """The scheduler advances where the optimizer stepped, and only there; nobody warns."""
    weights, groups = task(seed, 4)
    bad = [hopeless(groups[0], seed), groups[1], hopeless(groups[2], seed), groups[3]]
    half = {"weights": weights, "groups": bad, "dtype": "float16", "limit": FAR, "scale": SCALE, "decay": True}
    skipped, in_one_call = (run("train", **half, at_once=at_once) for at_once in (False, True))
    plain = run("train", weights=weights, groups=groups, dtype="float32", limit=FAR, decay=True)
    for seen, steps in ((skipped, [0, 1, 1, 2]), (in_one_call, [2]), (plain, [1, 2, 3, 4])):
        for at, count in enumerate(steps):
            scheduled = seen.number("after", at, "scheduled", what="the scheduler's count of steps")
            require(scheduled == count, "the scheduler's steps are not those of the optimizer")
        for warned in seen.trace("training").warnings:
            fail(f"training gives a {warned.category}", line=warned.line, detail=warned.message)


def test_the_scale_moves_once_per_group(run, seed):
    """The given scaler's scale falls once in a group that overflows, and grows after three in a row that do not."""
    weights, groups = task(seed, 5)
    given = [groups[0], hopeless(groups[1], seed), *groups[2:]]
    seen = run("train", weights=weights, groups=given, dtype="float16", limit=FAR, scale=SCALE)
    found = [seen.number("after", at, "scale", what="the scale after a group") for at in range(5)]
    require(found[1] < found[0], "a group that overflows does not lower the scale of the given scaler")
    expected = [SCALE, SCALE / 2, SCALE / 2, SCALE / 2, SCALE]
    require(found == expected, "the scale does not move once per group", detail=f"{found}, not {expected}")


@pytest.mark.parametrize(("dtype", "scale"), [("float16", SCALE), ("float32", None)])
def test_resume(run, shared_seed, dtype, scale):
    """A training that resumes from a file goes on as if it had never stopped."""
    same_way(run, shared_seed, dtype, scale, late=False)


def test_the_checkpoint_is_a_snapshot(run, shared_seed):
    """Training on does not change a checkpoint that was taken before."""
    same_way(run, shared_seed, "float32", None, late=True)


def same_way(run, seed, dtype, scale, *, late):
    """Four groups, a checkpoint, two more. Three make a scale grow: it is not the first one then, and grows again."""
    weights, groups = task(seed, 6)
    given = {"groups": groups[:4], "more": groups[4:], "others": [torch.zeros_like(each) for each in weights]}
    seen = run("resume", weights=weights, **given, dtype=dtype, limit=FAR, scale=scale, late=late)
    when = "resumed from a checkpoint that was taken before training went on" if late else "resumed"
    reference = Reference(weights, decay=True)
    for group in groups[:4]:
        reference.step(group)
    for at, group in enumerate(groups[4:]):
        expected = reference.step(group)
        for of in ("went_on", "resumed"):
            what = f"{when}, training takes another way" if of == "resumed" else "the training before it is wrong"
            moved(seen, weights, expected, what, dtype, of, at)
        rates = [seen.number(of, at, "rate", what="the learning rate") for of in ("went_on", "resumed")]
        require(rates[0] == rates[1], f"{when}, the learning rate is another one")
        scales = [seen.number(of, at, "scale", what="the scale") for of in ("went_on", "resumed")]
        require(scales[0] == scales[1], f"{when}, the scale is another one")
