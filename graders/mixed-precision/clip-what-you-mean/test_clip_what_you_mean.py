"""What is demanded of `train_step`."""

import pytest
import torch
from torch.nn.functional import linear, mse_loss

from proctorch.judge.checks import require
from proctorch.wire import Named

SMALL, LARGE = 2.0**4, 2.0**15
#: How far an update may be off, relative to its own length: by the rounding of float16, and of float32.
HALF, FULL = 1e-2, 5e-5


def task(seed, batches=1):
    """The weights of a network, and batches for it; float16 holds its gradients at every scale used.

    In each second batch the targets of the first output are about 1, all others about 0: neighbouring gradients are
    neither parallel nor opposite, so what is left of one shows in the direction of the next.
    """
    dice = torch.Generator().manual_seed(seed)
    rows, features, hidden, outputs = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((6, 13), (4, 9), (5, 10), (2, 5))
    )
    weights = [
        torch.randn(hidden, features, generator=dice) / features**0.5,
        torch.randn(hidden, generator=dice) / 10,
        torch.randn(outputs, hidden, generator=dice) / (4 * hidden**0.5),
        torch.randn(outputs, generator=dice) / 10,
    ]
    pairs = [
        [torch.randn(rows, features, generator=dice), torch.randn(rows, outputs, generator=dice) / 8]
        for _ in range(batches)
    ]
    for _, targets in pairs[1::2]:
        targets[:, 0] += 1
    return weights, pairs


def hopeless(pair):
    """The batch with targets so far off that its gradients are not finite in float16."""
    return [pair[0], torch.full_like(pair[1], 1e30)]


def gradient(weights, pair):
    """The gradient of the loss by each weight, in float64."""
    leaves = [each.double().requires_grad_() for each in weights]
    wide, bias, narrow, shift = leaves
    out = linear(torch.tanh(linear(pair[0].double(), wide, bias)), narrow, shift)
    return torch.autograd.grad(mse_loss(out, pair[1].double()) + out.mean(), leaves)


def row(tensors):
    return torch.cat([each.flatten().double() for each in tensors])


def clipped(grads, limit):
    """One long row of length at most `limit`."""
    length = row(grads).norm()
    return row(grads) * min(1.0, float(limit / length))


def weights_after(seen, step, weights):
    """The network's weights after a step."""
    shapes = [tuple(each.shape) for each in weights]
    return [
        seen.tensor("after", step, "weights", at, what="a weight after the step", dtype="float32", shape=shape)
        for at, shape in enumerate(shapes)
    ]


def update(seen, step, weights):
    """What a step took from the weights, as one long row; with a learning rate of 1, that is the clipped gradient."""
    before = weights if step == 0 else weights_after(seen, step - 1, weights)
    return row(before) - row(weights_after(seen, step, weights))


def same(actual, expected, what, tolerance=HALF):
    error = float((actual - expected).norm() / expected.norm())
    longer = float(actual.norm() / expected.norm())
    require(error <= tolerance, what, detail=f"relative error {error:.3g}, {longer:.3g} times the expected length")


def limit_for(weights, pair, part=0.3):
    """A limit that is a part of the true length of the gradient."""
    return float(part * row(gradient(weights, pair)).norm())


def test_the_scale_does_not_change_the_update(run, seed):
    """Two runs that differ in the initial scale alone take the same step, and it is one worth taking."""
    weights, pairs = task(seed)
    limit = limit_for(weights, pairs[0])
    low, high = (
        update(run("train", weights=weights, batches=pairs, limit=limit, scale=scale), 0, weights)
        for scale in (SMALL, LARGE)
    )
    require(min(low.norm(), high.norm()) > limit / 2, "the update is far shorter than the limit allows")
    same(low, high, "the update depends on the scaler's initial scale")


@pytest.mark.parametrize("last", [False, True], ids=["all parameters", "the last layer alone"])
def test_the_update_is_the_clipped_gradient(run, seed, last):
    """The update is the true gradient, shortened to the limit. What no optimizer has stays, and does not count."""
    weights, pairs = task(seed)
    grads = gradient(weights, pairs[0])
    if last:
        grads = (*map(torch.zeros_like, grads[:2]), *grads[2:])
    limit = float(0.3 * row(grads).norm())
    got = update(run("train", weights=weights, batches=pairs, limit=limit, scale=LARGE, last=last), 0, weights)
    require(got.norm() <= limit * (1 + HALF), "the update is longer than the limit allows")
    same(got, clipped(grads, limit), "the update is not the gradient, shortened to the limit")


@pytest.mark.parametrize("scale", [SMALL, LARGE])
def test_a_short_gradient_is_left_alone(run, seed, scale):
    """A gradient shorter than the limit is used as it is."""
    weights, pairs = task(seed)
    limit = limit_for(weights, pairs[0], part=3.0)
    got = update(run("train", weights=weights, batches=pairs, limit=limit, scale=scale), 0, weights)
    same(got, row(gradient(weights, pairs[0])), "a gradient shorter than the limit is changed")


@pytest.mark.parametrize("split", [False, True], ids=["one optimizer", "two optimizers"])
def test_an_infinite_gradient_changes_no_weight(run, seed, split):
    """A batch whose gradients are not finite leaves every weight as it was."""
    weights, pairs = task(seed)
    limit = limit_for(weights, pairs[0])
    bad = [hopeless(pairs[0])]
    seen = run("train", weights=weights, batches=bad, limit=limit, scale=LARGE, split=split, decay=0.1)
    after = weights_after(seen, 0, weights)
    unchanged = all(torch.equal(mine, before) for mine, before in zip(after, weights, strict=True))
    require(unchanged, "a batch with gradients that are not finite changes the weights")


@pytest.mark.parametrize("split", [False, True], ids=["one optimizer", "two optimizers"])
def test_an_infinite_gradient_lowers_the_scale_once(run, seed, split):
    """After a batch whose gradients are not finite the scale is lower, by the scaler's own factor, once."""
    weights, pairs = task(seed)
    seen = run("train", weights=weights, batches=[hopeless(pairs[0])], limit=1.0, scale=LARGE, split=split)
    scale = seen.number("after", 0, "scale", what="the scale after the step")
    require(scale < LARGE, "gradients that are not finite do not lower the scale")
    require(scale == LARGE / 2, "gradients that are not finite do not lower the scale by the scaler's factor, once")


def test_the_step_after_a_skipped_one(run, seed):
    """After a skipped step the scale is another one, and the next update is right all the same."""
    weights, pairs = task(seed)
    limit = limit_for(weights, pairs[0])
    seen = run("train", weights=weights, batches=[hopeless(pairs[0]), pairs[0]], limit=limit, scale=LARGE)
    expected = clipped(gradient(weights, pairs[0]), limit)
    same(update(seen, 1, weights), expected, "the update after a skipped step is not the clipped gradient")


def test_steps_in_a_row(run, seed):
    """Each of several steps is the clipped gradient of its own batch, and the scale stays as it is."""
    weights, pairs = task(seed, batches=3)
    limit = limit_for(weights, pairs[0])
    seen = run("train", weights=weights, batches=pairs, limit=limit, scale=0.5)
    for step, pair in enumerate(pairs):
        before = weights if step == 0 else weights_after(seen, step - 1, weights)
        expected = clipped(gradient(before, pair), limit)
        same(update(seen, step, weights), expected, "one of several steps is not the clipped gradient of its batch")
        scale = seen.number("after", step, "scale", what="the scale after the step")
        require(scale == 0.5, "a batch with finite gradients changes the scale")


@pytest.mark.parametrize("scale", [0.125, LARGE])
def test_each_optimizer_has_its_own_limit(run, seed, scale):
    """With two optimizers, the parameters of each are clipped on their own and unscaled once, in each of two steps."""
    weights, pairs = task(seed, batches=2)
    grads = gradient(weights, pairs[0])
    limit = float(0.5 * min(row(grads[:2]).norm(), row(grads[2:]).norm()))
    seen = run("train", weights=weights, batches=pairs, limit=limit, scale=scale, split=True)
    for step, pair in enumerate(pairs):
        grads = gradient(weights if step == 0 else weights_after(seen, step - 1, weights), pair)
        expected = torch.cat([clipped(grads[:2], limit), clipped(grads[2:], limit)])
        same(
            update(seen, step, weights),
            expected,
            "with two optimizers, the update is not the gradient of each, clipped",
        )


def test_a_disabled_scaler_is_plain_float32(run, seed):
    """With a disabled scaler the step is that of float32, clipped."""
    weights, pairs = task(seed)
    limit = limit_for(weights, pairs[0])
    got = update(run("train", weights=weights, batches=pairs, limit=limit), 0, weights)
    expected = clipped(gradient(weights, pairs[0]), limit)
    same(got, expected, "with a disabled scaler, the update is not the clipped gradient of float32", FULL)


def test_the_forward_pass_stays_in_half(run, seed):
    """With an enabled scaler the linear layers still compute in float16."""
    weights, pairs = task(seed)
    seen = run("train", weights=weights, batches=pairs, limit=1.0, scale=SMALL)
    given = [each.text for each in seen.list("linear_outputs") if isinstance(each, Named)]
    require(given and {*given} == {"torch.float16"}, "the forward pass does not compute in float16")
