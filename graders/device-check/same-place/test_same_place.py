"""What is demanded of `same_place`."""

import itertools
import random

import torch

from proctorch.judge.checks import require

ACCELERATORS = ("cuda", "xpu", "mps")


def agree(seen, expected, *path, what):
    """The pair at `path` was asked about in both orders, and the answer is this."""
    for order in (0, 1):
        said = seen.flag(*path, order, what="what is returned")
        wrong = "different places" if expected else "the same place"
        require(said is expected, f"{what} are said to be {wrong}", detail=f"at {path}, order {order}")


def in_a_form(dice, label):
    """The label as a text or as a torch.device."""
    return torch.device(label) if dice.random() < 0.5 else label


def asked(run, seed, same, different):
    """The pairs of labels, each label in some form: those of `same` are the same place, the others are not."""
    dice = random.Random(seed)
    given = [[in_a_form(dice, label) for label in pair] for pair in (*same, *different)]
    seen = run("pairs", given=given)
    for at, (a, b) in enumerate((*same, *different)):
        agree(seen, at < len(same), at, what=f"{a} and {b}")


def test_the_cpu_is_one_place(run, seed):
    """The CPU is the CPU with an index, and meta is meta with an index."""
    index = random.Random(seed).randint(1, 5)
    labels = ((kind, f"{kind}:0", f"{kind}:{index}") for kind in ("cpu", "meta"))
    asked(run, seed, [pair for mine in labels for pair in itertools.combinations_with_replacement(mine, 2)], [])


def test_kinds_differ(run, seed):
    """Devices of different kinds are different places: with the same index, without one, there or not."""
    index = random.Random(seed).randint(0, 5)
    pairs = [(f"{a}:{index}", f"{b}:{index}") for a, b in itertools.combinations((*ACCELERATORS, "cpu"), 2)]
    pairs += [(a, b) for a, b in itertools.combinations(("cpu", "meta", *ACCELERATORS), 2)]
    pairs += [(f"cuda:{index}", "xpu"), ("cuda", f"mps:{index}"), (f"xpu:{index}", "cpu")]
    asked(run, seed, [], pairs)


def test_an_index_needs_no_machine(run, seed):
    """Two devices of one kind that have an index are the same place if it is the same, also where none is there."""
    dice = random.Random(seed)
    same, different = [], []
    for kind in ("cuda", "xpu"):
        low, high = sorted(dice.sample(range(4, 64), 2))
        same += [(f"{kind}:{low}", f"{kind}:{low}"), (f"{kind}:0", f"{kind}:0")]
        different += [(f"{kind}:{low}", f"{kind}:{high}"), (f"{kind}:0", f"{kind}:{low}")]
    asked(run, seed, same, different)


def test_tensors_are_where_they_are(run, seed, device):
    """A tensor means the device that it is on, beside another one, a torch.device or a text."""
    dice = random.Random(seed)
    seen = run("tensors", shape=[dice.randint(2, 4), dice.randint(2, 4)])
    on_cpu = device.torch == "cpu"
    for name, expected in {
        "on the CPU, and its name": True,
        "on the CPU, and its device": True,
        "both on the CPU": True,
        "on meta, and its name": True,
        "both on the job's device": True,
        "on the job's device, and its kind": True,
        "on the job's device, and its name": True,
        "on the CPU and on meta": False,
        "on the CPU, and meta's name": False,
        "on the job's device and on meta": False,
        "on the CPU and on the job's device": on_cpu,
        "on the job's device, and the CPU's name": on_cpu,
    }.items():
        agree(seen, expected, name, what=f"a tensor and another place ({name})")


def test_a_wrong_name_is_an_error(run):
    """A text that names no device is a RuntimeError or ValueError, on either side, also beside itself or a tensor."""
    names = ("gpu", "cudaa", "cuda:one", "nvidia:0", "cpuu")
    pairs = [[name, name] for name in names]
    for name, other in itertools.product(names, ("cpu", "cuda:0", torch.device("meta"), torch.ones(2))):
        pairs += [[name, other], [other, name]]
    seen = run("names", given=pairs)
    for at, pair in enumerate(pairs):
        require(seen.get(at, "raised") is not None, "a text that names no device is not refused", detail=f"{pair}")
        raised = [str(each) for each in seen.list(at, "raised")]
        require({"RuntimeError", "ValueError"} & {*raised}, f"a text that names no device is refused with {raised[:1]}")


def test_an_int_is_an_index(run, seed):
    """An int is that accelerator, beside a text or another int, and never the CPU."""
    seen = run("indices", further=random.Random(seed).randint(1, 9))
    for name, expected in {
        "my index, my name": True,
        "my index, my kind": True,
        "my index twice": True,
        "another index, its name": True,
        "my index, another name": False,
        "another index, my name": False,
        "another index, my kind": False,
        "both indices": False,
        "my index, the CPU": False,
    }.items():
        agree(seen, expected, name, what=f"an index and another place ({name})")


def test_no_index_is_the_current_one(run, seed):
    """Whichever accelerator is current when it is asked, what has no index is that one, and what has one is its own."""
    forms = {name: ["text", "device", "int", "tensor"] for name in ("first", "second")} | {"bare": ["text", "device"]}
    places = [[name, form] for name, mine in forms.items() for form in mine]
    pairs = [list(pair) for pair in itertools.combinations_with_replacement(places, 2)]
    order = random.Random(seed).sample(["first", "second"], 2)
    turns = [[current, pairs] for current in (*order, order[0])]
    seen = run("switched", turns=turns)
    for turn, (current, _) in enumerate(turns):
        for at, pair in enumerate(pairs):
            a, b = (current if name == "bare" else name for name, _ in pair)
            bare = "bare" in [name for name, _ in pair]
            what = "a label without an index and another place" if bare else "two accelerators"
            agree(seen, a == b, turn, at, what=what)


def test_the_default_device_has_no_say(run):
    """Where new tensors go by default to another accelerator, the label without an index is still the current one."""
    seen = run("with_a_default", current="first", default="second")
    agree(seen, True, "first", what="with another default device, a label without an index and the current device")
    agree(seen, False, "second", what="a label without an index and the default device, which is not current,")


def test_nothing_is_made_or_moved(run, seed, device):
    """No bytes on the accelerator, no copy between devices, and the current device is the current one afterwards."""
    seen = run("traceless", shape=[random.Random(seed).randint(2, 9)])
    trace = seen.trace()
    require(not trace.peak.get(device.torch), "something is made on the accelerator")
    line = trace.copies[0].line if trace.copies else None
    require(not trace.copies, "something is moved between devices", line=line)
    require(seen.number("before") == seen.number("after"), "another device is current afterwards")
