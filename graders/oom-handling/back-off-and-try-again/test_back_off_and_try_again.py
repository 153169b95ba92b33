"""What is demanded of `run_with_backoff`."""

import pytest
import torch

from proctorch.judge.checks import require

MIB = 1 << 20
MEMORY = ["torch", "torch, in other words", "mps", "driver", "a class of its own", "capitals"]
OTHER = [
    "a wrong shape",
    "an illegal access",
    "a RuntimeError without a text",
    "a missing operation",
    "a wrong value",
    "a MemoryError",
    "a missing key",
]


def items(seed, count):
    """Different numbers in no order."""
    return torch.randperm(1000, generator=torch.Generator().manual_seed(seed))[:count].tolist()


def calls_for(numbers, start, costs, room):
    """The calls that are right: items and whether they fit, until all is done or one item does not fit."""
    calls, done, size = [], 0, start
    while done < len(numbers):
        chunk = numbers[done : done + size]
        fits = 2 * sum(costs[each] for each in chunk) <= room
        calls.append((chunk, fits))
        if fits:
            done += len(chunk)
        elif len(chunk) == 1:
            break
        else:
            size = len(chunk) // 2
    return calls


def task(seed, count=23, start=8, heavy=()):
    """Items that cost 3 each, of which four fit, and at some places heavy ones, of which none fits beside others."""
    numbers = items(seed, count)
    costs = {each: 12 if at in heavy else 3 for at, each in enumerate(numbers)}
    return {"items": numbers, "start": start, "costs": costs, "room": 25}


def ended(seen, given):
    """All results are there, and in order."""
    require(seen.get("endless") is None, "fn is called again and again without an end")
    name = seen.get("raised")
    require(name is None, f"{name} leaves run_with_backoff, though each item fits into memory by itself")
    expected = [2 * each for each in given["items"]]
    results = seen.list("returned", what="what is returned")
    require(len(results) == len(expected), f"{len(results)} results are returned for {len(expected)} items")
    require(results == expected, "the results are not those of the items in their order")


def made(seen):
    """The items of each call."""
    return [seen.list("calls", at, "items") for at in range(len(seen.list("calls")))]


def nothing_left(seen):
    """At each call, nothing of an earlier one is in use."""
    left = [seen.number("calls", at, "in_use") for at in range(len(seen.list("calls")))]
    require(not any(left), "when fn is called again, memory of the failed call is still in use", detail=str(left))


@pytest.mark.parametrize(("count", "start"), [(11, 4), (8, 4), (3, 16), (1, 1), (0, 4)])
def test_all_results_in_order(run, shared_seed, count, start):
    """With memory enough, fn gets chunks of the length asked for, and all results come back in order."""
    given = task(shared_seed, count, start) | {"room": 10_000}
    seen = run("back_off", **given)
    ended(seen, given)
    expected = [chunk for chunk, _ in calls_for(**_named(given))]
    require(made(seen) == expected, "with memory enough, fn is not called for chunks of the length asked for")


def _named(given):
    return {"numbers": given["items"], **{name: given[name] for name in ("start", "costs", "room")}}


@pytest.mark.parametrize("heavy", [(), (0,), (9,), (22,)], ids=["none", "first", "middle", "last"])
def test_nothing_is_lost_or_repeated(run, shared_seed, heavy):
    """Each item is in one successful call, its result is returned once, and it stays in the caller's list."""
    given = task(shared_seed, heavy=heavy)
    seen = run("back_off", **given)
    ended(seen, given)
    done = [each for at, chunk in enumerate(made(seen)) if seen.flag("calls", at, "done") for each in chunk]
    require(all(done.count(each) <= 1 for each in given["items"]), "an item is done twice")
    require(done == given["items"], "the successful calls do not go over all items in order")
    require(seen.list("items_afterwards") == given["items"], "the caller's list of items is changed")


@pytest.mark.parametrize(
    "given",
    [{"start": 16}, {"start": 8, "heavy": (9,)}, {"count": 7, "start": 4, "heavy": (5,)}],
    ids=["first", "middle", "short last chunk"],
)
def test_the_chunk_is_halved(run, shared_seed, given):
    """After a call with n items that ran out of memory comes one for the first n // 2, and no longer one."""
    given = task(shared_seed, **given)
    seen = run("back_off", **given)
    expected = [chunk for chunk, _ in calls_for(**_named(given))]
    sizes = [len(each) for each in made(seen)]
    told = f"the calls have {', '.join(map(str, sizes[:8]))}{', …' if len(sizes) > 8 else ''} items"
    require(made(seen) == expected, f"the chunks are not as demanded: {told}")


@pytest.mark.parametrize("start", [8, 16])
def test_the_failed_attempt_is_gone(run, shared_seed, start):
    """When fn is called again, what the failed call had in memory is let go."""
    given = task(shared_seed, start=start)
    seen = run("back_off", **given)
    require(len(made(seen)) > 1, "after a call that runs out of memory, fn is not called again")
    nothing_left(seen)
    ended(seen, given)


@pytest.mark.parametrize(
    ("place", "count", "start", "error"),
    [(0, 11, 8, "torch"), (5, 11, 8, "mps"), (8, 9, 4, "torch")],
    ids=["first", "middle", "last chunk of one"],
)
def test_an_item_that_does_not_fit(run, shared_seed, place, count, start, error):
    """An item that does not fit by itself ends the work: the exception of the call with it alone leaves, unchanged."""
    given = task(shared_seed, count, start)
    given["costs"][given["items"][place]] = 100
    seen = run("back_off", **given, error=error)
    expected = [chunk for chunk, _ in calls_for(**_named(given))]
    require(seen.get("endless") is None, "an item that does not fit by itself is tried again and again")
    require(seen.get("raised") is not None, "an item does not fit by itself, and nothing is raised")
    last = seen.get("raised_by_call") == len(made(seen))
    require(last, "an item does not fit by itself, and what is raised is not the exception of its call")
    require(made(seen) == expected, "before an item that does not fit by itself, fn is not called as demanded")


@pytest.mark.parametrize("error", MEMORY)
def test_every_kind_of_out_of_memory(run, shared_seed, error):
    """Out of memory is recognised by the class of the exception and by the text of a RuntimeError."""
    given = task(shared_seed)
    ended(run("back_off", **given, error=error), given)


@pytest.mark.parametrize("error", OTHER)
def test_other_errors_pass_at_once(run, shared_seed, error):
    """An exception that does not mean out of memory leaves after one call, as it is."""
    seen = run("fail", items=items(shared_seed, 11), start=8, error=error)
    calls = len(made(seen))
    require(seen.get("endless") is None and calls <= 1, f"{error} is an error of another kind, and fn is called again")
    right = seen.get("raised") is not None and seen.get("raised_by_call") == 1
    require(right, f"{error} is an error of another kind, and the exception does not pass through")


def test_on_the_accelerator(run, shared_seed):
    """With tensors in the accelerator's memory, a second attempt has room, and all results come back."""
    given = {"items": items(shared_seed, 19), "start": 16}
    seen = run("on_the_device", **given, size=3 * MIB)
    nothing_left(seen)
    ended(seen, given)
    sizes = [len(each) for each in made(seen)]
    require(sizes == [16, 8, 8, 3], "on the accelerator, the chunks are not as demanded", detail=str(sizes))
