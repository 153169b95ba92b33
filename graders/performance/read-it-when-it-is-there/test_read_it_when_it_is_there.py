"""What is demanded of `stream`."""

import torch
from torch.nn.functional import linear

from proctorch.judge.checks import close, require

#: So many batches may have been taken from the loader beyond the one whose result is handed over.
AHEAD = 2
#: More batches than anybody has buffers.
MANY = 20


def task(seed, count=None, more=0):
    """A layer's weight and batches for it, the last of which is smaller."""
    dice = torch.Generator().manual_seed(seed)
    features, width, rows, batches = (
        int(torch.randint(low, high, (), generator=dice)) for low, high in ((4, 9), (3, 8), (5, 9), (5, 8))
    )
    sizes = [rows] * (batches + more - 1) + [rows - 2]
    return {
        "weight": torch.randn(width, features, generator=dice) / features**0.5,
        "batches": [torch.randn(size, features, generator=dice) for size in sizes[:count]],
    }


def right_results(seen, key, given, when):
    """The results are those of the batches, in order."""
    results = seen.list(key)
    count = len(given["batches"])
    require(len(results) == count, f"for {count} batches, {len(results)} results are handed over")
    for at, x in enumerate(given["batches"]):
        expected = torch.tanh(linear(x.double(), given["weight"].double()))
        what = "a result" if at + 1 < count else "the last result"
        shape = tuple(expected.shape)
        mine = seen.tensor(key, at, what=what, dtype="float32", shape=shape, device="cpu", finite=False)
        close(mine, expected, f"{what}, {when},", rtol=1e-4, atol=1e-5)


def test_the_results_are_right(run, shared_seed):
    """For each batch, as it is, one result in order, which is on the CPU and complete when it is handed over."""
    given = task(shared_seed)
    seen = run("stream", **given)
    right_results(seen, "handed", given, "as it is handed over")
    sizes = [len(x) for x in given["batches"]]
    require(seen.list("sizes") == sizes, "the model is not called with each batch as it is", detail=str(sizes))


def test_one_batch_and_none(run, shared_seed):
    """A loader with one batch gives one result, and an empty one gives none."""
    for count in (1, 0):
        given = task(shared_seed, count)
        right_results(run("stream", **given), "handed", given, "as it is handed over")


def test_the_results_stay(run, shared_seed):
    """A result is still the same when all have been handed over."""
    seen = run("stream", **task(shared_seed, more=MANY))
    require(seen.list("handed"), "nothing is handed over")
    for at in range(len(seen.list("handed"))):
        then, now = (seen.tensor(key, at, what="a result", finite=False) for key in ("handed", "kept"))
        same = then.shape == now.shape and then.dtype == now.dtype and torch.equal(then.nan_to_num(), now.nan_to_num())
        require(same, "a result changes after it was handed over")


def test_results_are_not_late(run, shared_seed):
    """When a result is handed over, no more than two further batches have been taken from the loader."""
    seen = run("stream", **task(shared_seed))
    require(seen.list("ahead"), "nothing is handed over")
    for at in range(len(seen.list("ahead"))):
        ahead = seen.number("ahead", at)
        require(ahead <= AHEAD, f"a result is handed over when {ahead:g} further batches have been taken")


def test_the_device_always_has_work(run, shared_seed):
    """When the model is called for a batch, the CPU has not yet waited for its work on the batch before."""
    given = task(shared_seed)
    seen = run("stream", **given)
    calls = len(given["batches"]) - 1
    require(len(seen.list("waited")) == calls, "the model is not called once for each batch")
    waited = sum(seen.flag("waited", at) for at in range(calls))
    require(not waited, f"in {waited} of {calls} calls of the model, the device has nothing left to do")


def test_uploads_come_from_pinned_memory(run, shared_seed):
    """Each batch goes to the device from pinned memory."""
    given = task(shared_seed)
    seen = run("stream", **given)
    pinned = [seen.flag("pinned", at) for at in range(len(seen.list("pinned")))]
    require(len(pinned) >= len(given["batches"]), "not every batch goes to the device")
    require(all(pinned), "a batch goes to the device from memory that is not pinned")


def test_pinned_memory_is_left_alone(run, shared_seed):
    """Pinned memory is not written to while a copy from it may be under way."""
    count = run("stream", **task(shared_seed)).number("overwritten")
    require(count == 0, f"pinned memory is overwritten {count:g} times while a copy from it may be under way")
