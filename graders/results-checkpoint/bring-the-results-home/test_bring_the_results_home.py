"""What is demanded of `collect`."""

import pytest
import torch
from torch.nn.functional import linear

from proctorch.judge.checks import close, require

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])


def task(seed):
    """A layer and batches for it, the last of which is small and hard.

    The first class has no samples, but one is taken for it; the last class has none, and none is taken for it.
    Before they are scaled, all logits are multiples of 1/16 below 16, which bfloat16 has exactly, and no two of a
    sample are equal. The inputs lie so close around their mean that bfloat16 cannot tell them apart.
    """
    dice = torch.Generator().manual_seed(seed)
    features, classes, rows = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((4, 7), (4, 7), (7, 11))
    )
    x = [torch.randint(-1, 2, (size, features), generator=dice).float() for size in (rows, rows, rows, 3)]
    weight = torch.randint(-2, 3, (classes, features), generator=dice) / 2
    bias = torch.cat([torch.randperm(classes - 1, generator=dice) / 16, torch.tensor([-8.0])])
    weight[:, 0], weight[-1], x[0][:2] = 0.0, 0.0, 0.0
    for at, value in enumerate((1.0, -1.0)):  # a sample for the first class, and one for the second
        weight[at, 0] = x[0][at, 0] = value

    guesses = [linear(each, weight, bias).argmax(1) for each in x]
    y = [each % (classes - 2) + 1 for each in guesses]  # each of them is wrong
    for guess, label in zip(guesses[:-1], y[:-1], strict=True):
        right = (guess > 0) & (torch.rand(len(guess), generator=dice) < 0.6)
        label[right] = guess[right]
    y[0][1] = 1
    mean = torch.full((features,), 1024.0)
    return {
        "parameters": {"weight": weight, "bias": bias, "scale": torch.tensor([1.1])},
        "mean": mean,
        "batches": [[each + mean, label] for each, label in zip(x, y, strict=True)],
    }


def logits_of(given, dtype):
    """The logits as the model gives them: they are rounded once, when they are scaled."""
    weight, bias, scale = (each.to(dtype).double() for each in given["parameters"].values())
    logits = [linear(x.double() - given["mean"], weight, bias) * scale for x, _ in given["batches"]]
    return torch.cat(logits).to(dtype).double()


def labels_of(given):
    return torch.cat([y for _, y in given["batches"]])


def collected(run, given, dtype=torch.float32):
    """What came of a collection."""
    seen = run("collect", **given, dtype=dtype)
    require(seen.get("returned") is None, "what is returned is no tuple of four")
    return seen


def array(seen, *path, what, dtype, shape):
    """The values of an array that was returned."""
    kind = seen.text(*path, "kind", what=what)
    require(kind == "ndarray", f"{what} is of type {kind}, not a plain numpy.ndarray")
    mine = seen.text(*path, "dtype", what=what)
    require(mine == dtype, f"{what} has the dtype {mine}, not {dtype}")
    return seen.tensor(*path, "values", what=what, dtype=dtype, shape=shape)


@DTYPES
def test_the_probabilities_are_right(run, shared_seed, dtype):
    """The probabilities of all samples are a float32 array, in order, with float32's precision."""
    given = task(shared_seed)
    expected = logits_of(given, dtype).softmax(1)
    seen = collected(run, given, dtype)
    what = "the array of probabilities"
    mine = array(seen, "probabilities", what=what, dtype="float32", shape=tuple(expected.shape))
    close(mine, expected, what, rtol=0.0, atol=1e-5)


def test_the_labels_are_right(run, shared_seed):
    """The labels of all samples are an int64 array, in order."""
    given = task(shared_seed)
    expected = labels_of(given)
    mine = array(collected(run, given), "labels", what="the array of labels", dtype="int64", shape=(len(expected),))
    require(torch.equal(mine, expected), "the labels are not those of the loader, in order")


@DTYPES
def test_the_weights_are_right(run, shared_seed, dtype):
    """Each parameter is there by its name, as a float32 array, as soon as `collect` has returned."""
    given = task(shared_seed)
    seen = collected(run, given, dtype)
    names = seen.dict("weights", what="what is returned for the weights")
    right = {*names} == {*given["parameters"]}
    require(right, "the weights are not those of `named_parameters`, by their names")
    for name, expected in given["parameters"].items():
        what = f"the {name} in the weights"
        mine = array(seen, "weights", name, what=what, dtype="float32", shape=tuple(expected.shape))
        require(torch.equal(mine, expected.to(dtype).float()), f"{what} is not the model's")


@DTYPES
def test_the_weights_are_a_snapshot(run, shared_seed, dtype):
    """The arrays of the weights do not change when the parameters do."""
    seen = collected(run, task(shared_seed), dtype)
    for name in seen.dict("weights", what="what is returned for the weights"):
        before, after = (seen.tensor(key, name, "values", what="an array of weights") for key in ("weights", "later"))
        require(torch.equal(before, after), "an array of weights changes when the training goes on")


@DTYPES
def test_the_metrics_are_json(run, shared_seed, dtype):
    """`json.dumps` takes the metrics."""
    told = collected(run, task(shared_seed), dtype).dict("metrics")
    require("returned" in told, "`json.dumps(metrics)` raises", detail=str(told))


@DTYPES
def test_the_metrics_are_right(run, shared_seed, dtype):
    """Samples, accuracy and confusion are those of all samples."""
    given = task(shared_seed)
    predicted, labels = logits_of(given, dtype).argmax(1), labels_of(given)
    classes = len(given["parameters"]["bias"])
    confusion = torch.zeros(classes, classes, dtype=torch.int64)
    confusion.index_put_((labels, predicted), torch.tensor(1), accumulate=True)
    seen = collected(run, given, dtype)
    samples = seen.number("metrics", "returned", "samples", what="`samples`")
    require(type(samples) is int and samples == len(labels), "`samples` is not the number of samples, an integer")
    accuracy = seen.number("metrics", "returned", "accuracy", what="`accuracy`")
    close(accuracy, float((predicted == labels).double().mean()), "`accuracy`", rtol=0.0, atol=1e-6)
    rows = seen.list("metrics", "returned", "confusion", what="`confusion`")
    require(len(rows) == classes, f"`confusion` has {len(rows)} rows for {classes} classes")
    for at, expected in enumerate(confusion.tolist()):
        row = seen.list("metrics", "returned", "confusion", at, what="a row of `confusion`")
        integers = all(type(each) is int for each in row)
        require(
            integers and row == expected, "a row of `confusion` is wrong", detail=f"row {at}: {row}, not {expected}"
        )


def test_trips_are_few(run, shared_seed, device):
    """From the device come one copy for each batch and one for each parameter, and no single value."""
    given = task(shared_seed)
    trace = collected(run, given).trace()
    reads = [each.line for each in trace.reads if each.device == device.torch]
    require(not reads, f"{len(reads)} values are read from the device one by one", line=reads[0] if reads else None)
    copies = [each.line for each in trace.copies if each.source == device.torch]
    count, parameters = len(given["batches"]), len(given["parameters"])
    what = f"for {count} batches and {parameters} parameters, {len(copies)} copies come from the device"
    require(len(copies) <= count + parameters, what, line=copies[0] if copies else None)


@DTYPES
def test_the_model_is_left_alone(run, shared_seed, dtype):
    """The model has the same parameters afterwards, where they were and as they were, and is in its mode."""
    seen = collected(run, task(shared_seed), dtype)
    require(seen.flag("same"), "the model has other parameters than before")
    what = "the model is on another device, in another dtype or mode, frozen, or without its gradients"
    require(seen.list("after") == seen.list("before"), what)
