"""What is demanded of `evaluate`."""

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from proctorch.judge.checks import close, require

MIB = 1 << 20
#: What a batch of the large model needs, and the logits that it gives.
KEPT, ROWS, CLASSES = 24 * MIB, 32, 4096
LOGITS = ROWS * CLASSES * 4
#: So many earlier batches may still be held when the loader makes the next one.
HELD = 3


def task(seed):
    """The weights of a classifier, and batches for it, the last of which is small and hard."""
    dice = torch.Generator().manual_seed(seed)
    features, hidden, classes, rows = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((3, 8), (8, 17), (3, 7), (5, 9))
    )
    weights = [
        torch.randn(hidden, features, generator=dice),
        torch.randn(hidden, generator=dice),
        torch.randn(classes, hidden, generator=dice) / hidden**0.5,
        torch.randn(classes, generator=dice),
    ]
    sizes = [rows, rows, rows, 2]
    batches = [
        [torch.randn(size, features, generator=dice), torch.randint(0, classes, (size,), generator=dice)]
        for size in sizes
    ]
    batches[-1][1] = logits_of(weights, batches[-1][0]).argmin(1)
    return {"weights": weights, "batches": batches}


def logits_of(weights, x):
    """What the classifier gives, in float64."""
    wide, bias, narrow, shift = (each.double() for each in weights)
    return linear(torch.relu(linear(x.double(), wide, bias)), narrow, shift)


def all_of(given):
    """The inputs and the classes of all samples."""
    return (torch.cat([batch[at] for batch in given["batches"]]) for at in (0, 1))


def right_logits(seen, given, what):
    expected = logits_of(given["weights"], next(all_of(given)))
    require(len(seen.list("returned", what="what is returned")) == 2, "what is returned is no pair (loss, logits)")
    mine = seen.tensor("returned", 1, what=what, dtype="float32", shape=tuple(expected.shape), device="cpu")
    close(mine, expected, what, rtol=1e-4, atol=1e-4)


def ended_well(seen, count):
    """The evaluation of so many batches has not raised."""
    names = seen.list("raised") if seen.get("raised") is not None else []
    require("OutOfMemoryError" not in names, f"the accelerator runs out of memory within {count} batches")
    require(not names, f"the evaluation of {count} batches raises", detail=str(names))


def grown(run, device):
    """By how much the largest use of memory of the device is larger with six batches than with three, in bytes."""
    peaks = []
    for count in (3, 6):
        seen = run("many", count=count, rows=ROWS, classes=CLASSES, kept=KEPT)
        ended_well(seen, count)
        peaks.append(seen.trace().peak.get(device.torch, 0))
    require(min(peaks) >= KEPT, "the model was not called on the device")
    return peaks[1] - peaks[0]


def test_the_logits_are_right(run, shared_seed):
    """The logits of all samples come back on the CPU, in the loader's order, without a graph."""
    given = task(shared_seed)
    seen = run("evaluate", **given)
    right_logits(seen, given, "the tensor of logits")
    require(not seen.received("returned", 1, what="the logits").requires_grad, "the logits have a graph")


def test_the_loss_is_the_mean_over_samples(run, shared_seed):
    """The loss is the mean over all samples, though the last batch is smaller, and a Python float."""
    given = task(shared_seed)
    x, y = all_of(given)
    expected = cross_entropy(logits_of(given["weights"], x), y)
    loss = run("evaluate", **given).number("returned", 0, what="the loss")
    close(torch.tensor(loss, dtype=torch.float64), expected, "the loss", rtol=1e-4, atol=0.0)


def test_dropout_is_off(run, shared_seed):
    """A model with dropout, in training mode before, gives the logits that it gives without."""
    given = task(shared_seed)
    right_logits(run("evaluate", **given, dropout=0.5), given, "with dropout in the model, the tensor of logits")


def test_no_graph_is_recorded(run, shared_seed):
    """What the model gives has no graph, in none of its calls."""
    recorded = run("evaluate", **task(shared_seed)).list("recorded")
    require(recorded, "the model was not called")
    require(not any(recorded), "the forward pass records a graph")


def test_every_batch_as_it_is(run, shared_seed):
    """The model is called once for each batch, with all of it."""
    given = task(shared_seed)
    sizes = run("evaluate", **given).list("sizes")
    expected = [len(y) for _, y in given["batches"]]
    require(sizes == expected, "the model does not get each batch as the loader gives it", detail=str(sizes))


def test_memory_stays_flat(run, device):
    """Six batches hold no more memory at any one time than three, but for logits; no eight are held at once."""
    require(grown(run, device) < KEPT, "the memory in use grows from batch to batch by what the model needs for one")
    held = run("many", count=8, rows=1, classes=2, kept=1).number("held")
    require(held <= HELD, f"{held:g} earlier batches are still held when the loader makes the next one")


@pytest.mark.parametrize(("training", "recording"), [(True, True), (False, False)], ids=["both on", "both off"])
@pytest.mark.parametrize("fault", [None, "the model", "the loader", "the loader at its start"])
def test_modes_are_restored(run, shared_seed, training, recording, fault):
    """The model's mode and the recording of gradients are what they were, also after an exception, which passes."""
    seen = run("evaluate", **task(shared_seed), training=training, recording=recording, fault=fault)
    after = f"after an exception of {fault}" if fault else "after the evaluation"
    if fault:
        raised = seen.list("raised") if seen.get("raised") is not None else []
        require("ZeroDivisionError" in raised, f"an exception of {fault} does not pass through")
    modes = seen.list("modes")
    require(modes and all(mode is training for mode in modes), f"{after}, the model is not in the mode that it was in")
    trained = seen.list("trained") == [False, False, True, True]  # the first layer was frozen before
    require(trained, f"{after}, not the same parameters require gradients as before")
    same = seen.flag("recording") == recording and not seen.flag("inference")
    require(same, f"{after}, the recording of gradients is not as it was")


def test_it_fits_in_the_budget(run):
    """Eight batches are evaluated, each of which needs more than a third of the accelerator's memory."""
    ended_well(run("many", count=8, rows=ROWS, classes=CLASSES, kept=KEPT), 8)


def test_the_logits_go_home(run, device):
    """With three more batches, the accelerator holds no more logits than before."""
    require(grown(run, device) < LOGITS, "the logits of all batches are on the accelerator at the same time")
