"""What is demanded of `HybridModel`."""

import pytest
import torch
from torch.nn.functional import embedding, linear

from proctorch.judge.checks import close, require

#: What float32 and the order of its sums explain many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
#: So many copies may go in one direction: the rows, and ids or what belongs to them.
COPIES = 2


def task(seed):
    """A table's and a body's weights, ids for some steps, and how the steps are made.

    Ids are repeated: in each batch, and in the last one, which is only evaluated, some of the first, which is trained.
    """
    dice = torch.Generator().manual_seed(seed)
    rows, width, hidden, classes, batch, slots = (
        int(torch.randint(low, high, (), generator=dice))
        for low, high in ((200, 400), (5, 9), (9, 12), (2, 5), (4, 8), (3, 6))
    )
    ids = torch.randint(0, rows, (4, batch, slots), generator=dice)
    ids[:, 0, 0] = ids[:, 1, 1]
    ids[3, 2] = ids[0, 2]
    return {
        "weights": [
            torch.randn(rows, width, generator=dice),
            torch.randn(hidden, width, generator=dice) / width**0.5,
            torch.randn(hidden, generator=dice) / 10,
            torch.randn(classes, hidden, generator=dice) / hidden**0.5,
            torch.randn(classes, generator=dice) / 10,
        ],
        "batches": [*ids[:3]],
        "last": ids[3],
        "rate": 0.3,
        "momentum": 0.9,
    }


def one(given):
    """What is needed for one call, from a task."""
    return {"weights": given["weights"], "ids": given["last"]}


def output_of(weights, ids):
    rows, wide, bias, narrow, shift = weights
    return linear(torch.tanh(linear(embedding(ids, rows), wide, bias)), narrow, shift)


def trained(given):
    """The outputs before all steps, in each one and after the last, and the weights at the end, in float64."""
    weights = [each.double() for each in given["weights"]]
    outputs = [output_of(weights, given["last"])]
    speeds = [torch.zeros_like(each) for each in weights]
    for ids in given["batches"]:
        leaves = [each.detach().requires_grad_() for each in weights]
        output = output_of(leaves, ids)
        outputs.append(output.detach())
        grads = torch.autograd.grad(output.square().mean(), leaves)
        speeds = [given["momentum"] * speed + grad for speed, grad in zip(speeds, grads, strict=True)]
        weights = [each - given["rate"] * speed for each, speed in zip(weights, speeds, strict=True)]
    return [*outputs, output_of(weights, given["last"])], weights


def right_output(seen, path, expected, device):
    shape = tuple(expected.shape)
    mine = seen.tensor(*path, what="what the model returns", dtype="float32", shape=shape, device=device)
    close(mine, expected, "what the model returns", **TOLERANCE)


def table_stayed(seen, moved):
    require(seen.text("device") == "cpu", f"when {moved} is moved, the table leaves the CPU")
    require(seen.flag("same_values"), f"when {moved} is moved, the table has other values")
    body = seen.list("body")
    require(body and all(each == "meta" for each in body), f"when {moved} is moved, its body is not")
    result_on_meta(seen, ("result",))


def result_on_meta(seen, path):
    told = seen.dict(*path, what="what the model returns")
    require("device" in told, "what the model returns is no tensor")
    require(told.get("device") == "meta", "what the model returns is not on the body's device")


def test_both_are_trained(run, shared_seed, device):
    """Steps of an optimizer for `parameters()` give the values that they give to one model on one device."""
    given = task(shared_seed)
    outputs, weights = trained(given)
    seen = run("train", **given)
    for at, expected in enumerate(outputs):
        right_output(seen, ("outputs", at), expected, device)
    for at, expected in enumerate(weights):
        what = "a weight of the body after training" if at else "the table after training"
        where = device if at else "cpu"
        mine = seen.tensor("weights", at, what=what, dtype="float32", shape=tuple(expected.shape), device=where)
        close(mine, expected, what, **TOLERANCE)


def test_the_table_stays(run, shared_seed):
    """After `to("meta")`, `table.weight` is a parameter on the CPU with its values; body and result are there."""
    seen = run("move", **one(task(shared_seed)))
    table_stayed(seen, "the model")
    require(seen.flag("same"), "when the model is moved, `table.weight` is not one of its parameters")


def test_inside_a_larger_module(run, shared_seed):
    """After `to("meta")` of a module that has the model in it, the table stays, and body and result are there."""
    seen = run("move_with_another", **one(task(shared_seed)))
    table_stayed(seen, "a larger module")
    require(seen.flag("same"), "when a larger module is moved, `table.weight` is another parameter")


@pytest.mark.parametrize("when", ["before", "after", "there and back"])
def test_the_body_is_where_it_is(run, shared_seed, when):
    """The result is where the body is, whoever has moved it, and when."""
    given = one(task(shared_seed))
    seen = run("move_the_body", **given, when=when)
    if when == "there and back":
        right_output(seen, (), output_of([each.double() for each in given["weights"]], given["ids"]), "cpu")
    else:
        result_on_meta(seen, ())


def test_the_state_goes_round(run, shared_seed, seed, device):
    """A larger module has each parameter once, and its state makes another one the same."""
    given = one(task(shared_seed))
    dice = torch.Generator().manual_seed(seed)
    other = [torch.randn(each.shape, generator=dice) for each in given["weights"]]
    seen = run("save_and_load", first=given["weights"], second=other, ids=given["ids"])
    counts = seen.list("counts")
    complete = counts == [1] * (2 * len(given["weights"])) and seen.number("all") == len(counts)
    require(complete, "`parameters()` does not have each parameter of table and body once", detail=str(counts))
    require(not seen.list("unexpected"), "keys are missing or unexpected when the state is loaded")
    for at, expected in enumerate(given["weights"]):
        what = "a weight of the body after loading" if at else "the table after loading"
        mine = seen.tensor("loaded", at, what=what, dtype="float32", shape=tuple(expected.shape))
        close(mine, expected, what, rtol=0.0, atol=0.0)
    right_output(seen, ("output",), output_of([each.double() for each in given["weights"]], given["ids"]), device)


def crossed_little(trace, given, device):
    """In each direction no more bytes than the rows and the ids have, and few copies; a number that is read is one."""
    width = given["weights"][0].shape[1]
    most = given["ids"].numel() * (4 * width + 8)
    crossed = [each for each in trace.copies if each.source != each.target and each.bytes]
    read = [each.line for each in trace.reads if each.device == device.torch]
    for way, copies, reads in (
        ("to the device", [each for each in crossed if each.target == device.torch], []),
        ("back to the CPU", [each for each in crossed if each.source == device.torch], read),
    ):
        size, count = sum(each.bytes for each in copies), len(copies) + len(reads)
        line = next((each for each in [*reads, *(each.line for each in copies)] if each), None)
        detail = f"{most} bytes are allowed"
        require(size <= most, f"{size} bytes go {way}, more than rows and ids have", line=line, detail=detail)
        what = f"{count} copies go {way}, more than {COPIES}"
        require(count <= COPIES, f"{what}; {len(reads)} are numbers that are read" if reads else what, line=line)


def test_ids_from_either_device(run, shared_seed, device):
    """With ids on the device, the values are the same, and no more crosses than rows, ids and gradients."""
    given = one(task(shared_seed))
    seen = run("cross", **given, on_device=True)
    right_output(seen, ("output",), output_of([each.double() for each in given["weights"]], given["ids"]), device)
    crossed_little(seen.trace(), given, device)


def test_rows_cross_once(run, shared_seed, device):
    """With ids on the CPU, the looked-up rows cross once, and their gradients once on the way back."""
    given = one(task(shared_seed))
    seen = run("cross", **given, on_device=False)
    crossed_little(seen.trace(), given, device)


def test_it_fits_in_the_budget(run, device):
    """With a table of one and a half times the device's memory, the model is moved and makes a step."""
    seen = run("large")
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("OutOfMemoryError" not in names, "with a table of 48 MiB, the accelerator runs out of memory")
    require(not names, "with a table of 48 MiB, a step raises", detail=str(names))
    require(all(each == device.torch for each in seen.list("body")), "the body is not on the device")
