"""What is demanded of `pick_device`."""

import random

import pytest
import torch

from proctorch.judge.checks import fail, require
from proctorch.wire import Named

#: Built without any accelerator, and built for one that is not there.
BARE = {"kind": None, "count": 0}
DRIVERLESS = {"kind": None, "count": 0, "built": "cuda"}

#: What the index of the current device may be: it is 0 on these machines, and need not be told.
CURRENT = ("", "0")


def machine(kind, count=1):
    return {"kind": kind, "count": count}


def kind_and_index(seen, *path):
    """The type and the index (a text, empty for none) of the torch.device at `path`."""
    value = seen.get(*path)
    if not (isinstance(value, Named) and value.type == "torch.device"):
        fail("what is returned is no torch.device", detail=f"got {value!r}")
    kind, _, index = value.text.partition(":")
    require(not index or index.isdecimal(), "the device that is returned has no proper index")
    return kind, index


def picked(run, *calls):
    """What is picked in each call, given as (machine, prefer)."""
    seen = run("picks", calls=[list(call) for call in calls])
    return [kind_and_index(seen, at) for at in range(len(calls))]


def insisted(run, *calls, strict):
    """The evidence, and for each call the names of the classes of the exception that was raised, none if none was."""
    seen = run("insist", calls=[list(call) for call in calls], strict=strict)
    raised = [seen.list(at, "raised") if seen.get(at, "raised") is not None else [] for at in range(len(calls))]
    return seen, [[str(each) for each in names] for names in raised]


def test_no_accelerator_gives_the_cpu(run):
    """Without an accelerator the CPU is picked, and nothing is warned of."""
    seen = run("pick", machine=BARE)
    require(kind_and_index(seen)[0] == "cpu", "without an accelerator, another device than the CPU is picked")
    require(not seen.trace().warnings, "picking the CPU, with nothing preferred, gives a warning")


def test_built_for_cuda_is_not_enough(run):
    """A torch that was built for CUDA, on a machine without a GPU, gives the CPU."""
    [(kind, _)] = picked(run, (DRIVERLESS, None))
    require(kind == "cpu", "where torch was built for CUDA but no GPU is there, another device than the CPU is picked")


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps"])
def test_every_kind_of_accelerator_is_found(run, seed, kind):
    """The current accelerator is picked, whether it is CUDA's, Intel's or Apple's, and nothing is warned of."""
    count = 1 if kind == "mps" else random.Random(seed).randint(2, 4)
    seen = run("pick", machine=machine(kind, count))
    mine, index = kind_and_index(seen)
    require(mine == kind, f"on a machine with {kind}, another device is picked", detail=f"got {mine}")
    require(index in CURRENT, "the device that is picked is not the current one", detail=f"got {mine}:{index}")
    require(not seen.trace().warnings, "picking the accelerator, with nothing preferred, gives a warning")


def test_a_usable_preference_is_kept(run, seed):
    """What is preferred and there is picked, index and all, as a text or as a torch.device."""
    dice = random.Random(seed)
    kind, index = dice.choice(["cuda", "xpu"]), dice.randint(1, 4)
    where = machine(kind, index + 1)
    wishes = (f"{kind}:{index}", torch.device(kind, index), f"{kind}:0", kind, "cpu", torch.device("cpu"), "cpu:0")
    first, second, zero, any_index, *cpu = picked(run, *((where, prefer) for prefer in wishes))
    require(first == second == (kind, str(index)), "a preferred device that is there is not the one picked")
    require(zero == (kind, "0"), "the first device is preferred, index and all, and another one is picked")
    require(any_index[0] == kind, "a preferred kind of device that is there is not the one picked")
    require({each for each, _ in cpu} == {"cpu"}, "the CPU is preferred, and another device is picked")


def test_a_missing_preference_falls_back(run, seed):
    """Where what is preferred is not there, the accelerator that is there is picked, else the CPU."""
    dice = random.Random(seed)
    absent, present = dice.sample(["cuda", "xpu", "mps"], 2)
    wishes = (absent, torch.device(absent), "hpu")
    calls = [(where, prefer) for where in (BARE, machine(present)) for prefer in wishes]
    kinds = [kind for kind, _ in picked(run, *calls)]
    require(kinds[:3] == ["cpu"] * 3, "a preferred device that is not there does not fall back to the CPU")
    right = kinds[3:] == [present] * 3
    require(right, "a preferred device that is not there does not fall back to the accelerator that is")


def test_an_index_too_high_falls_back(run, seed):
    """An index beyond the devices that are there is not picked: the current accelerator is."""
    count = random.Random(seed).randint(2, 4)
    several, one = machine("cuda", count), machine("mps")
    calls = ((several, f"cuda:{count}"), (several, torch.device("cuda", count + 3)), (one, "mps:1"))
    for (where, _), (kind, index) in zip(calls, picked(run, *calls), strict=True):
        require(kind == where["kind"], "an index too high does not fall back to the accelerator that is there")
        require(index in CURRENT, "an index too high does not give the current device", detail=f"got {kind}:{index}")


def test_strict_refuses_what_is_not_there(run, seed):
    """With strict, a preferred device that is not there is a RuntimeError."""
    count = random.Random(seed).randint(1, 4)
    calls = (
        (BARE, "cuda"),
        (DRIVERLESS, "cuda:0"),
        (machine("cuda", count), f"cuda:{count}"),
        (machine("mps"), torch.device("xpu")),
    )
    for names in insisted(run, *calls, strict=True)[1]:
        require(names, "strict does not refuse a preferred device that is not there")
        require("RuntimeError" in names, f"strict refuses with {names[0]}, which is no RuntimeError")


def test_strict_refuses_nothing_else(run, seed):
    """With strict, what is there is picked, and nothing preferred is nothing refused."""
    kind = random.Random(seed).choice(["cuda", "xpu"])
    cpu = [("cpu", ""), ("cpu", "0")]
    calls = ((machine(kind, 2), f"{kind}:1"), (machine("mps"), "mps"), (BARE, "cpu"), (BARE, None))
    seen, raised = insisted(run, *calls, strict=True)
    allowed = ([(kind, "1")], [("mps", ""), ("mps", "0")], cpu, cpu)
    for at, (call, names, right) in enumerate(zip(calls, raised, allowed, strict=True)):
        require(not names, "strict refuses where there is nothing to refuse", detail=f"{call}: {names}")
        mine = kind_and_index(seen, at, "returned")
        require(mine in right, "with strict, another device is picked", detail=f"{call}: {mine}")


@pytest.mark.parametrize("strict", [False, True])
def test_a_wrong_name_is_an_error(run, strict):
    """A text that names no device is an error, never a fallback."""
    wrong = ("cudaa", "gpu", "cuda:one", "nvidia:0", "")
    calls = [(where, name) for where in (BARE, machine("cuda")) for name in wrong]
    for (_, name), names in zip(calls, insisted(run, *calls, strict=strict)[1], strict=True):
        require(names, "a text that names no device is not refused", detail=repr(name))
        right = {"RuntimeError", "ValueError"} & {*names}
        require(right, f"a text that names no device is refused with {names[0]}", detail=repr(name))


def test_this_accelerator_is_picked(run, device):
    """On this machine, as it is, its accelerator is picked, and a tensor can be made there."""
    seen = run("pick_here")
    kind, _ = kind_and_index(seen, "picked")
    require(kind == device.torch.partition(":")[0], "the accelerator of this machine is not picked")
    require(seen.get("made", "raised") is None, "no tensor can be made on the picked device")
    seen.tensor("made", "returned", what="a tensor made on the picked device", dtype="float32", shape=(3,))
