"""What is demanded of `train_step`."""

import math

import pytest
import torch
from torch.nn.functional import batch_norm, cross_entropy, layer_norm, linear

from proctorch.judge.checks import require

MIB = 1 << 20
#: What a row of the large model needs, and how many of its rows may be together.
KEPT, CHUNK = 4 * MIB, 4
#: How far a gradient and a loss may be off, relative to their size.
GRADIENT = {"float64": 1e-10, "float32": 1e-4}
LOSS = {"float64": 1e-9, "float32": 1e-4}
IGNORED = -100


def dtype_on(device):
    """Apple's accelerator has no float64."""
    return "float32" if device.type == "mps" else "float64"


def task(seed, device, ignored=()):
    """The weights of a classifier, a batch of 10 rows in chunks of at most 4, and a rate; some rows have no label."""
    dice = torch.Generator().manual_seed(seed)
    features, hidden, classes = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((3, 7), (4, 9), (3, 6))
    )

    def random(*shape):
        return torch.randn(*shape, generator=dice, dtype=torch.float64).to(getattr(torch, dtype_on(device)))

    y = torch.randint(0, classes, (10,), generator=dice)
    y[list(ignored)] = IGNORED
    return {
        "weights": [random(hidden, features), random(hidden), random(classes, hidden), random(classes)],
        "x": random(10, features),
        "y": y,
        "chunk": 4,
        "rate": 0.25,
    }


def whole_batch(given):
    """The loss and the gradient by each weight of a step with the whole batch, in float64."""
    leaves = [each.double().requires_grad_() for each in given["weights"]]
    wide, bias, narrow, shift = leaves
    hidden = linear(given["x"].double(), wide, bias)
    if given.get("kind") == "InstanceNorm1d":
        hidden = layer_norm(hidden, hidden.shape[1:])
    elif "norm" in given:
        norm = {name: each.double() for name, each in given["norm"].items()}
        hidden = batch_norm(hidden, norm["running_mean"], norm["running_var"], norm["weight"], norm["bias"])
    loss = cross_entropy(linear(torch.tanh(hidden), narrow, shift), given["y"])
    return float(loss.detach()), torch.autograd.grad(loss, leaves)


def row(tensors):
    return torch.cat([each.flatten().double() for each in tensors])


def step_gradient(seen, given, path=(), skip=()):
    """The gradient with which the optimizer stepped, as one long row; `skip` are parameters that are not compared."""
    require(len(seen.list(*path, "steps")) > 0, "the optimizer does not step")
    kept = [at for at in range(len(given["weights"]) + len(skip)) if at not in skip]
    return row(
        seen.tensor(*path, "steps", -1, at, what="a gradient", shape=tuple(weight.shape))
        for at, weight in zip(kept, given["weights"], strict=True)
    )


def same_gradient(seen, given, device, what, path=(), skip=()):
    _, grads = whole_batch(given)
    expected = row(grads)
    got = step_gradient(seen, given, path, skip)
    error = float((got - expected).norm() / expected.norm())
    longer = float(got.norm() / expected.norm())
    detail = f"relative error {error:.3g}, {longer:.3g} times the expected length"
    require(error <= GRADIENT[dtype_on(device)], what, detail=detail)


def ended_well(seen, rows):
    """The step with so many rows has not raised."""
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("OutOfMemoryError" not in names, f"the accelerator runs out of memory with {rows} rows")
    require(not names, f"the step with {rows} rows raises", detail=str(names))


def test_the_gradient_is_that_of_the_batch(run, shared_seed, device):
    """With chunks of 4, 4 and 2 rows the gradient is that of 10 rows at once."""
    given = task(shared_seed, device)
    seen = run("step", **given)
    same_gradient(seen, given, device, "with chunks of different sizes, the gradient is not that of the whole batch")


@pytest.mark.parametrize(
    "ignored", [(1, 4, 5, 6), (0, 1, 2, 3), (2, 8, 9)], ids=["some", "a whole chunk", "the last chunk"]
)
def test_ignored_rows_do_not_count(run, shared_seed, device, ignored):
    """Where rows have no label, the gradient is that of the whole batch, and finite, though a chunk may have none."""
    given = task(shared_seed, device, ignored)
    seen = run("step", **given)
    same_gradient(seen, given, device, "with ignored rows, the gradient is not that of the whole batch")


def test_one_step(run, shared_seed, device):
    """The optimizer steps once, and the weights move by the gradient of this batch alone."""
    given = task(shared_seed, device)
    seen = run("step", **given)
    steps = len(seen.list("steps"))
    require(steps == 1, f"the optimizer steps {steps} times")
    after = row(
        seen.tensor("weights", at, what="a weight", shape=tuple(each.shape)) for at, each in enumerate(given["weights"])
    )
    update = (row(given["weights"]) - after) / given["rate"]
    gradient = step_gradient(seen, given)
    require(
        (update - gradient).norm() <= GRADIENT[dtype_on(device)] * gradient.norm() * 10,
        "the weights do not move by the gradient that the optimizer was given",
    )
    _, grads = whole_batch(given)
    stale = float((gradient - row(grads) - 1).norm() / row(grads).norm())
    require(stale > 1e-3, "gradients from before the step are added to those of the batch")
    seen = run("step", **given, old=math.nan)
    finite = bool(step_gradient(seen, given).isfinite().all())
    require(finite, "gradients that were nan before the step are not finite in it")


@pytest.mark.parametrize(
    "ignored", [(), (1, 4, 5, 6), (0, 1, 2, 3)], ids=["all rows", "some ignored", "a whole chunk ignored"]
)
def test_the_loss_is_that_of_the_batch(run, shared_seed, device, ignored):
    """The loss that is returned is that of the whole batch before the update, a Python float."""
    given = task(shared_seed, device, ignored)
    seen = run("step", **given)
    require(type(seen.get("loss")) is float, "the loss that is returned is no Python float")
    require(math.isfinite(seen.number("loss")), "the loss that is returned is not finite (nan or inf)")
    expected, _ = whole_batch(given)
    error = abs(seen.number("loss") - expected) / expected
    require(error <= LOSS[dtype_on(device)], "the loss is not that of the whole batch", detail=f"error {error:.3g}")


def test_chunks_as_allowed(run, shared_seed, device):
    """No call of the model has more rows than allowed, and all calls together have each row once."""
    given, allowed = task(shared_seed, device), [1, 3, 16]
    del given["chunk"]
    seen = run("rows_in_chunks", **given, chunks=allowed)
    features = given["x"].shape[1]
    for step, limit in enumerate(allowed):
        chunks = [seen.tensor(step, at, what="what the model gets") for at in range(len(seen.list(step)))]
        right = chunks and all(each.ndim == 2 and each.shape[1] == features for each in chunks)
        require(right, "the model gets no rows")
        largest = max(len(each) for each in chunks)
        require(largest <= limit, f"the model gets {largest} rows at once, with {limit} allowed")
        rows = sorted(torch.cat(chunks).double().tolist())
        require(rows == sorted(given["x"].double().tolist()), "the model does not get each row once")


def test_memory_does_not_grow(run, device):
    """A step with six chunks holds no more memory at any one time than a step with three.

    The logits of a chunk are 1 MiB, so that whoever keeps those of all chunks is seen. On the accelerator, the rows
    together need one and a half times the memory that is there.
    """
    peaks = []
    for rows in (3 * CHUNK, 6 * CHUNK):
        seen = run("large", rows=rows, chunk=CHUNK, kept=KEPT)
        ended_well(seen, rows)
        peaks.append(seen.trace().peak.get(device.torch, 0))
    require(min(peaks) >= KEPT, "the model was not called on the device where it is")
    require(peaks[1] - peaks[0] < MIB, "the memory in use grows with the number of chunks")


def with_instance_norm(seed, device):
    return task(seed, device) | {"kind": "InstanceNorm1d", "norm": {}}


def with_batch_norm(seed, device, kind="BatchNorm1d"):
    given = task(seed, device)
    dice = torch.Generator().manual_seed(seed + 1)
    hidden, dtype = len(given["weights"][1]), given["x"].dtype
    names = ("weight", "bias", "running_mean", "running_var")
    norm = {name: (0.5 + torch.rand(hidden, generator=dice)).to(dtype) for name in names}
    return given | {"kind": kind, "norm": norm}


@pytest.mark.parametrize("kind", ["BatchNorm1d", "SyncBatchNorm"])
def test_batch_norm_is_refused(run, seed, device, kind):
    """Batch normalization in training mode, deep inside other layers, is a ValueError before anything is changed."""
    seen = run("step_with_norm", **with_batch_norm(seed, device, kind), frozen=False)
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("ValueError" in names, "batch normalization in training mode is not refused with a ValueError")
    require(seen.flag("unchanged"), "batch normalization is refused, and weights or statistics are changed")
    require(seen.flag("gradients_unchanged"), "batch normalization is refused, and gradients are changed")


def test_frozen_batch_norm_is_fine(run, seed, device):
    """With batch normalization in evaluation mode, or instance normalization, the gradient is the whole batch's."""
    given = with_batch_norm(seed, device)
    seen = run("step_with_norm", **given, frozen=True)
    taken(seen, given, device, "batch normalization in evaluation mode", skip=(2, 3))
    given = with_instance_norm(seed, device)
    seen = run("step_with_norm", **given, frozen=False)
    taken(seen, given, device, "instance normalization in training mode")


def taken(seen, given, device, kind, skip=()):
    """The step is made, with the right gradient; `skip` are the normalization's own parameters."""
    require(seen.get("raised") is None, f"{kind} raises", detail=str(seen.get("message")))
    what = f"with {kind}, the gradient is not that of the whole batch"
    same_gradient(seen, given, device, what, path=("returned",), skip=skip)
