"""What is demanded of `forward_loss`."""

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from proctorch.judge.checks import close, fail, require
from proctorch.wire import Named

HALVES = ["bfloat16", "float16"]
#: Relative errors that the rounding of each dtype explains four times over: of the loss, and of the gradient's norm.
TOLERANCES = {"bfloat16": (1e-2, 3e-2), "float16": (2e-3, 5e-3), "float32": (1e-5, 1e-4)}


def inputs(seed, dtype="bfloat16"):
    """A batch of raw values about 1000, which the model centres, and the weights of a classifier for it."""
    dice = torch.Generator().manual_seed(seed)
    batch, features, hidden, classes = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((6, 17), (5, 13), (8, 17), (3, 8))
    )
    wide = torch.randn(hidden, features, generator=dice) / features**0.5
    narrow = torch.randn(classes, hidden, generator=dice) * 1.5 / hidden**0.5
    return {
        "x": torch.randn(batch, features, generator=dice) + 1000,
        "y": torch.randint(0, classes, (batch,), generator=dice),
        "weights": [
            [wide, torch.randn(hidden, generator=dice) / 10],
            [narrow, torch.randn(classes, generator=dice) / 10],
        ],
        "dtype": dtype,
    }


def reference(given):
    """The loss, and its gradient as one long row, in float64."""
    (wide, bias), (narrow, shift) = [[each.double().requires_grad_() for each in layer] for layer in given["weights"]]
    hidden = torch.tanh(linear(given["x"].double() - 1000, wide, bias))
    loss = cross_entropy(linear(hidden, narrow, shift), given["y"])
    grads = torch.autograd.grad(loss, [wide, bias, narrow, shift])
    return loss.detach(), torch.cat([each.flatten() for each in grads])


def linear_outputs(seen):
    """The dtypes that the linear layers gave."""
    given = [each.text for each in seen.list("linear_outputs") if isinstance(each, Named)]
    require(given, "the model was not called")
    return {each.removeprefix("torch.") for each in given}


def quiet(seen, what):
    """No warning of any kind was given."""
    for warned in seen.trace("forward").warnings:
        fail(f"{what} gives a {warned.category}", line=warned.line, detail=warned.message)


def the_loss(seen):
    """The loss, which must be one float32 number with a graph behind it."""
    loss = seen.tensor("loss", what="the loss", dtype="float32", shape=())
    require(seen.received("loss").requires_grad, "the loss has no graph: it cannot be back-propagated")
    return loss


def compare(seen, given):
    """The loss and the gradients are those of float32, up to the rounding of the dtype."""
    loss, grads = reference(given)
    of_loss, of_grads = TOLERANCES[given["dtype"]]
    close(the_loss(seen), loss, "the loss", rtol=of_loss, atol=0.0)
    require(seen.get("backward", "raised") is None, "backward raises on the loss that was returned")
    shapes = [tuple(each.shape) for layer in given["weights"] for each in layer]
    mine = [seen.tensor("grads", at, what="a gradient", shape=shape).double() for at, shape in enumerate(shapes)]
    error = (torch.cat([each.flatten() for each in mine]) - grads).norm() / grads.norm()
    require(
        error <= of_grads, "the gradients are not those of the loss in float32", detail=f"relative error {error:.2g}"
    )


@pytest.mark.parametrize("dtype", HALVES)
def test_linear_layers_run_in_half(run, shared_seed, dtype):
    """The linear layers compute in the dtype that was asked for, and nothing is warned of."""
    seen = run("one_step", **inputs(shared_seed, dtype))
    got = linear_outputs(seen)
    require(got == {dtype}, f"with {dtype} asked for, a linear layer computes in {', '.join(sorted(got - {dtype}))}")
    quiet(seen, f"asking for {dtype}")


@pytest.mark.parametrize("dtype", HALVES)
def test_weights_and_grads_stay_float32(run, shared_seed, dtype):
    """Parameters keep their dtype and values, and their gradients are float32."""
    given = inputs(shared_seed, dtype)
    seen = run("one_step", **given)
    for at, weight in enumerate(each for layer in given["weights"] for each in layer):
        mine = seen.tensor("weights", at, what="a parameter", dtype="float32")
        require(torch.equal(mine, weight), "a parameter has another value than before")
        seen.tensor("grads", at, what="a parameter's gradient", dtype="float32")


@pytest.mark.parametrize("dtype", HALVES)
def test_loss_is_a_float32_scalar(run, shared_seed, dtype):
    """The loss is one float32 number with a graph behind it."""
    the_loss(run("one_step", **inputs(shared_seed, dtype)))


@pytest.mark.parametrize("dtype", HALVES)
def test_loss_and_gradients_are_right(run, shared_seed, dtype):
    """Loss and gradients are those of float32 up to the rounding of the dtype, and so is the loss of the next step."""
    given = inputs(shared_seed, dtype)
    compare(run("one_step", **given), given)
    loss = run("next_step", **given).tensor("loss", what="the loss of a second call", dtype="float32", shape=())
    expected = 1000 * (given["y"] != 0).double().mean()
    close(loss, expected, "after the weights have changed, the loss of a second call", rtol=1e-2, atol=0.0)


@pytest.mark.parametrize("dtype", HALVES)
def test_backward_is_outside_autocast(run, shared_seed, dtype):
    """The backward pass is left to the caller, who does it with autocast off."""
    seen = run("one_step", **inputs(shared_seed, dtype))
    require(not seen.flag("backward_before_return"), "the backward pass is done before forward_loss returns")
    states = seen.list("autocast_in_backward")
    require(states, "the backward pass does not reach the model")
    require(states == [False], "autocast is on while the caller does the backward pass")


def test_autocast_ends_with_the_call(run, seed, shared_seed):
    """Autocast is off after the call, and after an exception of the model's, which passes through."""
    seen = run("one_step", **inputs(shared_seed))
    left_on = seen.trace("forward").autocast_left_on or seen.flag("autocast_after")
    require(not left_on, "autocast is still on after forward_loss returns")
    seen = run("model_that_raises", **inputs(seed))
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("NoWayThrough" in names, "an exception of the model's does not pass through forward_loss")
    left_on = seen.trace("forward").autocast_left_on or seen.flag("autocast_after")
    require(not left_on, "autocast is still on after the model has raised an exception")


def test_float32_is_the_plain_path(run, seed):
    """With float32 asked for, everything is float32, and nothing is warned of."""
    given = inputs(seed, "float32")
    seen = run("one_step", **given)
    require(linear_outputs(seen) == {"float32"}, "with float32 asked for, a linear layer computes in another dtype")
    quiet(seen, "asking for float32")
    compare(seen, given)


def test_device_without_autocast_is_the_plain_path(run, seed):
    """On a kind of device without autocast, everything is float32."""
    seen = run("device_without_autocast", **inputs(seed, HALVES[seed % 2]))
    require(linear_outputs(seen) == {"float32"}, "where there is no autocast, a linear layer computes in another dtype")
    right = seen.get("loss", "device") == "meta" and seen.get("loss", "dtype") == "float32"
    require(right, "where there is no autocast, the loss is no float32 tensor on the model's device")


@pytest.mark.parametrize(
    "spelling",
    [
        "as a torch.device",
        "as a text",
        "as a torch.device with an index",
        "as a text with an index",
        "as a torch.device without an index",
    ],
)
def test_every_spelling_of_the_device(run, seed, spelling):
    """The device may be a torch.device or a text, with an index or without, and nothing is warned of."""
    dtype = HALVES[seed % 2]
    seen = run("one_step", **inputs(seed, dtype), spelling=spelling)
    require(linear_outputs(seen) == {dtype}, f"with the device given {spelling}, autocast is not on")
    quiet(seen, f"the device given {spelling}")
