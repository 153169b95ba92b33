"""What is demanded of `fit`."""

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from proctorch.judge.checks import close, require

#: What float32 and the order of its sums explain many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
#: Logits that are nearer to each other than this may be in either order.
MARGIN = 1e-3
MOMENTUM = 0.9
#: Room for any number of rows, from the first call on.
ENOUGH = [[0, 1000, 1000]]
#: The state's entries, in order; the mask is a buffer.
STATE = ("wide.weight", "wide.bias", "gate.mask", "narrow.weight", "narrow.bias")
#: The place of the parameter that is frozen, among the weights.
FROZEN = 1
#: Errors that come in a training, the exception of each, and how many calls of the model there are until then.
ERRORS = {
    "a wrong shape": ("RuntimeError", 3),
    "a wrong value": ("ValueError", 3),
    "a lack of memory in the driver": ("RuntimeError", 3),
    "a lack of memory on the host": ("MemoryError", 3),
    "a missing key": ("KeyError", 3),
    "a lack of memory in evaluation": ("OutOfMemoryError", 5),
}
#: A rate with which nothing is learnt.
TOO_HIGH = 2.0
#: So many copies and reads for each epoch, and so many bytes in a copy that is not counted.
TRIPS, SMALL = 2, 8
MIB = 1 << 20


def task(seed):
    """A classifier, batches to train and to evaluate it with, and how to train it."""
    dice = torch.Generator().manual_seed(seed)
    channels, height, width, hidden, classes, half, last = (
        int(torch.randint(low, high, (), generator=dice))
        for low, high in ((1, 4), (2, 4), (2, 4), (8, 12), (3, 6), (5, 7), (2, 4))
    )
    features = channels * height * width

    def batch(rows):
        images = torch.randn(rows, channels, height, width, generator=dice)
        return [images, torch.randint(0, classes, (rows,), generator=dice)]

    mask = 2.0 * (torch.arange(hidden) % 2)
    given = {
        "weights": [
            torch.randn(hidden, features, generator=dice) / features**0.5,
            torch.randn(hidden, generator=dice) / 10,
            2 * torch.randn(classes, hidden, generator=dice) / hidden**0.5,
            torch.randn(classes, generator=dice) / 10,
        ],
        "mask": mask[torch.randperm(hidden, generator=dice)],
        "train": [batch(rows) for rows in (2 * half + 1, 2 * half + 3, 2 * half + 1, last)],
        "class_weights": 0.25 + 3 * torch.rand(classes, generator=dice),
        "epochs": 2,
        "rate": 0.1 + float(torch.rand((), generator=dice)) / 10,
    }
    return given | {"val": clear(given, batch(80))}


def clear(given, batch):
    """Three batches of rows whose classes no rounding changes; rows that the mode changes are the first of them.

    One row is twice in its batch. It is taken for a class that no row's label is, so the last table is not symmetric.
    """
    images, labels = batch
    _, _, weights = trained(given)
    fine, modes = torch.ones(len(images), dtype=torch.bool), torch.zeros(len(images), dtype=torch.bool)
    for each in weights:
        logits = logits_of(each, images.double())
        top = logits.topk(2).values
        fine &= top[:, 0] - top[:, 1] > MARGIN
        modes |= logits_of(each, images.double(), given["mask"].double()).argmax(1) != logits.argmax(1)
    chosen = torch.cat([torch.where(fine & modes)[0], torch.where(fine & ~modes)[0]])[:19]
    absent = int(logits[chosen[0]].argmax())
    labels = torch.where(labels == absent, (absent + 1) % logits.shape[1], labels)
    batches = (torch.cat([chosen[0::3], chosen[:1]]), chosen[1::3], chosen[2::3])
    return [[images[at], labels[at]] for at in batches]


def logits_of(weights, images, mask=1.0):
    wide, bias, narrow, shift = weights
    return linear(torch.tanh(linear(images.flatten(1), wide, bias)) * mask, narrow, shift)


def trained(given):
    """In float64: the loss of each epoch, the weights at the end, and the weights after each epoch."""
    weights, mask = [each.double() for each in given["weights"]], given["mask"].double()
    speeds = [torch.zeros_like(each) for each in weights]
    losses, after = [], []
    for _ in range(given["epochs"]):
        total = count = 0.0
        for images, labels in given["train"]:
            leaves = [each.detach().requires_grad_() for each in weights]
            of_rows = cross_entropy(logits_of(leaves, images.double(), mask), labels, reduction="none")
            shares = given["class_weights"].double()[labels]
            loss = (of_rows * shares).sum()
            grads = [*torch.autograd.grad(loss / shares.sum(), leaves)]
            grads[FROZEN] = torch.zeros_like(grads[FROZEN])
            speeds = [MOMENTUM * speed + grad for speed, grad in zip(speeds, grads, strict=True)]
            weights = [each - given["rate"] * speed for each, speed in zip(weights, speeds, strict=True)]
            total, count = total + float(loss.detach()), count + float(shares.sum())
        losses.append(total / count)
        after.append(weights)
    return losses, weights, after


def enough(run, shared_seed):
    """A task, and what came of it where all fits. The model comes in evaluation mode."""
    given = task(shared_seed)
    return given, run("fit", **given, training=False, rooms=ENOUGH)


def scarce(run, shared_seed):
    """A task, and what came of it where half of a batch fits forward, and in the second epoch one row backward.

    A batch has a row more than two chunks, the second one three more. With these three, which are less than a chunk,
    the second lack begins: the 17th call, after one that failed, ten for the first epoch, three for a batch, and two.
    """
    given = task(shared_seed)
    half = len(given["train"][0][0]) // 2
    return given, run("fit", **given, training=True, rooms=[[0, half, 1000], [16, 1000, 1]])


def rising(seed):
    """Of the tasks from this one on, with a rate that is too high, the first whose loss rises."""
    given = task(seed) | {"rate": TOO_HIGH}
    (first, second), _, _ = trained(given)
    return given if second > 1.1 * first else rising(seed + 1)


def right_weights(seen, given, device, after="after training"):
    _, weights, _ = trained(given)
    expected = [*weights[:2], given["mask"].double(), *weights[2:]]
    for at, each in enumerate(expected):
        what = f"{STATE[at]} {after}"
        mine = seen.tensor("model", at, what=what, dtype="float32", shape=tuple(each.shape), device=device)
        close(mine, each, what, **TOLERANCE)


def right_losses(seen, given):
    losses, _, _ = trained(given)
    count = len(seen.list("told", "losses", what="`losses`"))
    require(count == len(losses), f"for {len(losses)} epochs, there are {count} losses")
    for at, loss in enumerate(losses):
        require(type(seen.get("told", "losses", at)) is float, "a loss is no Python float")
        close(seen.number("told", "losses", at), loss, "the loss of an epoch", **TOLERANCE)


def calls(seen, *, training):
    """The calls of the model in this mode."""
    every = range(len(seen.list("calls")))
    return [at for at in every if seen.flag("calls", at, "training") is training]


def right_chunks(seen, given):
    """In training each call has as many rows as are allowed, in order, or those that are left of a batch."""
    places = {
        float(row[0, 0, 0]): (number, at)
        for number, batch in enumerate(given["train"])
        for at, row in enumerate(batch[0])
    }
    limit = None
    for call in calls(seen, training=True):
        values = seen.tensor("calls", call, "rows", what="what the model gets").flatten().tolist()
        found = [places.get(value) for value in values]
        require(found and None not in found, "in training the model gets rows that are not in `train`")
        number, first = found[0]
        rows, whole = len(found), len(given["train"][number][0])
        together = found == [(number, first + at) for at in range(rows)]
        require(together, "in training the model gets rows that are not next to each other in a batch")
        ends = first + rows == whole
        if limit is None:
            require(rows == whole, f"nothing has failed, and the model gets {rows} rows of a batch of {whole}")
        else:
            require(rows <= limit, f"the model gets {rows} rows at once, where {limit} are allowed")
            require(rows == limit or ends, f"the model gets {rows} rows at once, and could get {limit}")
        if seen.flag("calls", call, "failed"):
            limit = rows // 2


def test_the_model_is_trained(run, shared_seed, device):
    """Where all fits, the weights are those of SGD with momentum on the weighted loss, on the device."""
    given, seen = enough(run, shared_seed)
    right_weights(seen, given, device)
    again = run("fit", **given, training=True, rooms=ENOUGH)
    right_weights(again, given, device, "after training, of a model that came with gradients,")


def test_each_epoch_has_its_own_batches(run, shared_seed):
    """As often as there are epochs, `train` and `val` are iterated over."""
    given, seen = enough(run, shared_seed)
    for at, name in enumerate(("train", "val")):
        rounds = seen.number("rounds", at)
        what = f"in {given['epochs']} epochs, `{name}` is iterated over {rounds:g} times"
        require(rounds == given["epochs"], what)


def test_the_losses(run, shared_seed):
    """The loss of each epoch is the weighted mean over all rows, as a Python float."""
    given, seen = enough(run, shared_seed)
    right_losses(seen, given)


def test_the_confusion(run, shared_seed):
    """For each epoch, the rows of `val` are counted by label and predicted class, on the CPU."""
    given, seen = enough(run, shared_seed)
    _, _, after = trained(given)
    classes = len(given["class_weights"])
    shape = (given["epochs"], classes, classes)
    table = seen.tensor("told", "confusion", what="`confusion`", dtype="int64", shape=shape, device="cpu")
    for mine, weights in zip(table, after, strict=True):
        expected = torch.zeros(classes, classes, dtype=torch.int64)
        for images, labels in given["val"]:
            for pair in zip(labels, logits_of(weights, images.double()).argmax(1), strict=True):
                expected[pair] += 1
        detail = f"{mine.tolist()}, not {expected.tolist()}"
        require(torch.equal(mine, expected), "the confusion matrix of an epoch is wrong", detail=detail)


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_the_mode_is_given_back(run, shared_seed, training):
    """Each module of the model is in the mode that it came in."""
    seen = run("fit", **task(shared_seed), training=training, rooms=ENOUGH)
    modes = [seen.flag("modes", at) for at in range(len(seen.list("modes")))]
    came = "training" if training else "evaluation"
    require(modes and all(each is training for each in modes), f"the model came in {came} mode, and is not in it")


def test_evaluation_has_no_graph(run, shared_seed):
    """In each epoch, the model is called for all rows of `val` in evaluation mode, and without a graph."""
    given, seen = enough(run, shared_seed)
    evaluated = calls(seen, training=False)
    rows = sum(seen.tensor("calls", at, "rows", what="what the model gets").numel() for at in evaluated)
    expected = given["epochs"] * sum(len(images) for images, _ in given["val"])
    what = f"in {given['epochs']} epochs, {rows} rows are evaluated in evaluation mode, not {expected}"
    require(rows == expected, what)
    require(not any(seen.flag("calls", at, "graph") for at in evaluated), "the evaluation builds a graph")


def test_the_checkpoint(run, shared_seed):
    """`torch.load` reads the file, and what it reads is the state of the trained model, on the CPU."""
    _, seen = enough(run, shared_seed)
    right_file(seen)
    right_file(run("fit", **rising(shared_seed), training=False, rooms=ENOUGH), " where the loss rises")


def right_file(seen, where=""):
    raised = seen.get("saved", "raised")
    require(raised is None, "`torch.load(path)` raises", detail=f"{seen.get('saved', 'message')}")
    found = seen.dict("saved", "returned", what="what the file holds")
    require(sorted(map(str, found)) == sorted(STATE), "the file does not have the entries of the model's `state_dict`")
    for at, name in enumerate(STATE):
        expected, what = seen.tensor("model", at), f"{name} in the file{where}"
        mine = seen.tensor(
            "saved", "returned", name, what=what, dtype="float32", shape=tuple(expected.shape), device="cpu"
        )
        close(mine, expected, what, rtol=0.0, atol=0.0)


def test_it_backs_off(run, shared_seed, device):
    """Where memory does not suffice for a batch, chunks are as long as they may be, and all values the same."""
    given, seen = scarce(run, shared_seed)
    right_chunks(seen, given)
    right_weights(seen, given, device)
    right_losses(seen, given)


def test_nothing_is_kept(run, shared_seed):
    """At each call, all that earlier passes saved is gone, and at most two graphs are alive."""
    _, seen = scarce(run, shared_seed)
    for at in range(len(seen.list("calls"))):
        failed = at > 0 and seen.flag("calls", at - 1, "failed")
        when = "after a failed pass" if failed else "after a pass that did not fail"
        saved, graphs = seen.number("calls", at, "in_use"), seen.number("calls", at, "graphs")
        require(saved == 0, f"{when}, the model is called while what an earlier one saved is in memory")
        require(graphs <= 2, f"the model is called while the graphs of {graphs:g} earlier calls are alive")


def test_what_does_not_fit_leaves(run, shared_seed):
    """A row that does not fit leaves as soon as it is by itself, all other errors and those in evaluation at once."""
    given = task(shared_seed)
    whole = len(given["train"][0][0])
    half, halves = whole // 2, [whole]
    while halves[-1] > 1:
        halves.append(halves[-1] // 2)
    cases = [{"rooms": [[0, 0, 0]]}, {"rooms": [[0, half, 1000], [3, 0, 0]]}]
    cases += [{"rooms": ENOUGH, "error": error} for error in ERRORS]
    seen = run("fit_in_vain", **given, cases=cases)
    for case, expected in enumerate((halves, [whole, half, half, 1])):
        require(seen.get("cases", case, "endless") is None, "a row that does not fit is tried again and again")
        names = raised(seen, case)
        require("OutOfMemoryError" in names, "a row does not fit by itself, and no OutOfMemoryError leaves `fit`")
        every = range(len(seen.list("cases", case, "calls")))
        rows = [seen.tensor("cases", case, "calls", at, "rows", what="what the model gets").numel() for at in every]
        what = "the rows are not halved until there is one, which ends it"
        require(rows == expected, what, detail=f"{rows}, not {expected}")
    for case, (error, (name, expected)) in enumerate(ERRORS.items(), start=2):
        require(seen.get("cases", case, "endless") is None, f"after {error}, it is tried again and again")
        names = raised(seen, case)
        require(names[:1] == [name], f"the {name} that tells of {error} does not leave `fit`", detail=str(names))
        made = len(seen.list("cases", case, "calls"))
        require(made == expected, f"after the {name} that tells of {error}, the model is called again")


def raised(seen, case):
    """The names of the exception that left, none if none did."""
    return seen.list("cases", case, "raised") if seen.get("cases", case, "raised") is not None else []


def test_it_goes_there_once(run, shared_seed, device):
    """No more bytes go to the device than the model, the weights, and the batches of all epochs have."""
    given, seen = enough(run, shared_seed)
    batches = [each for batch in (*given["train"], *given["val"]) for each in batch]
    parts = [*given["weights"], given["mask"], given["class_weights"], *given["epochs"] * batches]
    most = sum(each.numel() * each.element_size() for each in parts)
    there = [each for each in seen.trace().copies if each.target == device.torch and each.source != each.target]
    counted = [each for each in there if each.bytes > SMALL]
    size = sum(each.bytes for each in counted)
    line = max(counted, key=lambda each: sum(other.line == each.line for other in counted)).line if counted else None
    require(size <= most, f"{size} bytes go to the device, of {most}", line=line)


def test_few_trips_back(run, shared_seed, device):
    """Copies and scalar reads from the device are no more than two for each epoch, and one for each of the state."""
    given, seen = enough(run, shared_seed)
    trace = seen.trace()
    lines = [each.line for each in trace.reads if each.device == device.torch]
    lines += [each.line for each in trace.copies if each.source == device.torch and each.target != each.source]
    most = TRIPS * given["epochs"] + len(STATE)
    line = max(lines, key=lines.count) if lines else None
    require(len(lines) <= most, f"{len(lines)} trips are made from the device, with {most} allowed", line=line)


def test_it_fits_in_the_budget(run):
    """In 64 MiB, four batches of six rows are trained on, and nine of two are evaluated.

    A row has 4 MiB, and needs 8 MiB more until its backward pass.
    """
    seen = run("fit_large", rows=6, batches=4, kept=8 * MIB)
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("OutOfMemoryError" not in names, "the accelerator runs out of memory, though three rows at once would fit")
    require(not names, "a training on large images raises", detail=f"{seen.get('message')}")
