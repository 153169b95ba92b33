"""What is demanded of `train`."""

import functools
import math

import pytest
import torch

from proctorch.judge.checks import close, require

#: What float32 and the order of its sums explain many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
#: Logits that are nearer to each other than this may be in either order.
MARGIN = 1e-3
#: So many steps may a number be late.
LATE = 10
#: The results of these operations have a shape that depends on values.
SHAPED = (
    "aten.nonzero",
    "aten.masked_select",
    "aten.bincount",
    "aten._unique2",
    "aten.unique_dim",
    "aten.unique_consecutive",
)


def task(seed):
    """A network's weights, batches for it, the last of which is small, and a learning rate.

    Whatever the weights are, two of the last batch's three samples are taken for what they are, and one is not.
    """
    dice = torch.Generator().manual_seed(seed)
    features, hidden, classes, rows, tens, more = (
        int(torch.randint(low, high, (), generator=dice))
        for low, high in ((3, 8), (5, 10), (3, 6), (5, 9), (2, 4), (3, 9))
    )
    batches = [
        [torch.randn(size, features + 1, generator=dice), torch.randint(0, classes, (size,), generator=dice)]
        for size in [rows] * (10 * tens + more - 1) + [3]
    ]
    batches[-1][0][:, -1], batches[-1][1] = 50, torch.tensor([0, 1, 0])
    return {
        "weights": [
            torch.randn(hidden, features, generator=dice) / features**0.5,
            torch.randn(hidden, generator=dice) / 10,
            torch.randn(classes, hidden, generator=dice) / hidden**0.5,
            torch.randn(classes, generator=dice) / 10,
        ],
        "batches": batches,
        "rate": float(torch.rand((), generator=dice)) * 0.2 + 0.1,
    }


def without_a_rest(given):
    """The first twenty batches: groups of ten leave nothing over."""
    return given | {"batches": given["batches"][:20]}


def hundred(given):
    """The first twenty batches, five times: so many that a trip for each nine steps is one too many."""
    return given | {"batches": given["batches"][:20] * 5}


def spoilt(given, count, value, where):
    """The first so many batches; in those of these places the first sample's loss is not finite, or very large.

    The sample has the value for its last input, and is of the class that this is added to.
    """
    batches = [[x.clone(), y.clone()] for x, y in given["batches"][:count]]
    for at in where:
        batches[at][0][0, -1] = value
        batches[at][1][0] = 0
    return given | {"batches": batches}


def huge(given):
    """Twelve batches with losses of at least 3.75e37: each is finite in float32, and their sum is not."""
    return spoilt(given, 12, -3e38, range(12))


@functools.lru_cache(maxsize=1)
def trained(seed):
    """Of each step its loss and the least and the greatest accuracy that rounding explains; then the weights.

    The gradients are written out: on a busy machine, an engine of threads would take longer than the candidate.
    """
    given = task(seed)
    weights, steps = [each.double() for each in given["weights"]], []
    for inputs, y in given["batches"]:
        wide, bias, narrow, shift = weights
        x, last = inputs[:, :-1].double(), inputs[:, -1:]
        hidden = torch.tanh(x @ wide.T + bias)
        logits = hidden @ narrow.T + shift
        logits[:, :1] += last
        weight = logits.exp() / logits.exp().sum(1, keepdim=True)
        loss = -weight.gather(1, y[:, None]).log().mean()
        to_logits = (weight - (torch.arange(weight.shape[1]) == y[:, None]).double()) / len(y)
        to_hidden = to_logits @ narrow * (1 - hidden**2)
        grads = [to_hidden.T @ x, to_hidden.sum(0), to_logits.T @ hidden, to_logits.sum(0)]
        weights = [each - given["rate"] * grad for each, grad in zip(weights, grads, strict=True)]
        ahead = logits.gather(1, y[:, None])[:, 0] - logits.scatter(1, y[:, None], -math.inf).amax(1)
        least, most = (float((ahead > margin).double().mean()) for margin in (MARGIN, -MARGIN))
        steps.append((float(loss), least, most))
    return steps, weights


def right_log(seen, steps):
    """The first so many calls of `log` are those of the steps, in order."""
    for at, (loss, least, most) in enumerate(steps):
        require(len(seen.list("logged")) > at, f"of {len(steps)} steps, {at} are logged")
        step = seen.number("logged", at, 0, what="the step that is logged")
        require(type(step) is int, "the step that is logged is no int")
        require(step == at, "the steps are not logged one after the other, from 0 on")
        what = "the loss of a later step in the log" if at else "the loss of the first step in the log"
        close(seen.number("logged", at, 1, what="the loss that is logged"), loss, what, **TOLERANCE)
        accuracy = seen.number("logged", at, 2, what="the accuracy that is logged")
        detail = f"step {at}: {accuracy}, not {least}"
        require(least - 1e-6 <= accuracy <= most + 1e-6, "an accuracy in the log is wrong", detail=detail)


def limit(given):
    """How often a training may wait."""
    return math.ceil(len(given["batches"]) / 10) + 1


def test_the_training_is_right(run, shared_seed):
    """The model is trained on each batch once, and its weights are those of gradient descent on all of them."""
    given = task(shared_seed)
    _, weights = trained(shared_seed)
    seen = run("train", **given)
    begun, batches = seen.number("begun"), len(given["batches"])
    require(begun == batches, f"for {batches} batches, the model is called {begun} times")
    for at, expected in enumerate(weights):
        what = "a weight after training"
        mine = seen.tensor("weights", at, what=what, dtype="float32", shape=tuple(expected.shape))
        close(mine, expected, what, **TOLERANCE)


def test_the_log_is_right(run, shared_seed):
    """Each step is logged once, in order, with its loss and its accuracy as Python numbers."""
    given = task(shared_seed)
    short = without_a_rest(given)
    for batches, seen in ((given["batches"], run("train", **given)), (short["batches"], run("unwatched", **short))):
        steps = trained(shared_seed)[0][: len(batches)]
        right_log(seen, steps)
        count = len(seen.list("logged"))
        require(count == len(steps), f"for {len(steps)} steps, `log` is called {count} times")
    large = huge(given)
    steps, count = len(large["batches"]), len(run("unwatched", **large).list("logged"))
    require(count == steps, f"for {steps} steps with large losses, all of them finite, `log` is called {count} times")


def test_the_log_is_not_late(run, shared_seed):
    """When a step is logged, no more than ten further ones have begun."""
    seen = run("train", **task(shared_seed))
    require(seen.list("logged"), "nothing is logged")
    for at in range(len(seen.list("logged"))):
        step = seen.number("logged", at, 0, what="the step that is logged")
        late = seen.number("logged", at, 3, what="the number of steps") - step - 1
        require(late <= LATE, f"a step is logged when {late:g} further ones have begun")


@pytest.mark.parametrize(
    ("value", "where", "more"),
    [(math.nan, 0, LATE + 1), (-math.inf, 4, LATE + 1), (-math.inf, 11, LATE + 1), (math.nan, 12, 2)],
    ids=["the first", "nan is not all", "a later one", "in what is left over"],
)
def test_it_stops_when_the_loss_is_not_finite(run, shared_seed, value, where, more):
    """After the first loss that is nan or inf, at most ten further steps begin, and none of them is logged."""
    steps, _ = trained(shared_seed)
    seen = run("unwatched", **spoilt(task(shared_seed), where + 1 + more, value, [where]))
    kind = "nan" if math.isnan(value) else "inf"
    further = seen.number("begun") - where - 1
    require(further <= LATE, f"after a loss that is {kind}, the training goes on for {further:g} steps")
    right_log(seen, steps[:where])
    count = len(seen.list("logged"))
    require(count > where, f"the step whose loss is {kind} is not logged")
    loss = seen.number("logged", where, 1, what="the loss that is logged")
    require(not math.isfinite(loss), f"a loss that is {kind} is logged as a finite number")
    require(count == where + 1, f"steps after a loss that is {kind} are logged")


def test_no_graph_is_kept(run, shared_seed):
    """When a step begins, no graph is alive but that of the step before, or of two."""
    graphs = run("train", **task(shared_seed)).number("graphs")
    require(graphs <= 2, f"when a step begins, the graphs of {graphs:g} earlier ones are kept")


def test_trips_are_few(run, shared_seed, device):
    """Scalar reads of tensors on the device and copies to the CPU are no more than one for ten steps, and one."""
    given = hundred(task(shared_seed))
    trace = run("train", **given).trace()
    trips = [each.line for each in trace.reads if each.device == device.torch]
    trips += [each.line for each in trace.copies if each.source == device.torch]
    what = f"in {len(given['batches'])} steps, numbers are brought from the device {len(trips)} times"
    require(len(trips) <= limit(given), what, line=trips[0] if trips else None)


def test_nothing_else_waits(run, shared_seed, device):
    """No more often is something synchronized, or a result made whose shape depends on values."""
    given = hundred(task(shared_seed))
    seen = run("train", **given)
    calls = seen.number("waits")
    what = f"in {len(given['batches'])} steps, `synchronize` is called {calls:g} times"
    require(calls <= limit(given), what)
    shaped = sum(
        count
        for op, count in seen.trace().ops.items()
        if op.device == device.torch and (op.name in SHAPED or (op.name == "aten.index" and "bool" in op.inputs[1:]))
    )
    what = f"in {len(given['batches'])} steps, {shaped} results have a shape that depends on values"
    require(shaped <= limit(given), what)
