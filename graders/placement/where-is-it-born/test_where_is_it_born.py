"""What is demanded of `born`: what comes of a situation when it is played. No right answer is written here.

With the meta device it is played in this process, which no submission reaches; on an accelerator beside the submission,
after all its predictions.
"""

import itertools
import random
import runpy
from pathlib import Path

from proctorch.judge.checks import fail, require

outcomes = runpy.run_path(str(Path(__file__).with_name("scenarios.py")))["outcomes"]
#: They move what they get. What is on the meta device cannot leave it.
MOVING = {"torch.tensor", "torch.as_tensor", "Tensor.to", "Tensor.to copy", "Tensor.cpu", "torch.load"}
CPU, PLACE = "cpu", "place"
ANYWHERE = (None, CPU, PLACE)
NOWHERE = (None,)
#: What each check asks of, as (call, sources, devices).
NOTHING = [
    *((call, NOWHERE, ANYWHERE) for call in ("torch.zeros", "torch.nn.Linear")),
    *((call, ["list"], ANYWHERE) for call in ("torch.tensor", "torch.as_tensor")),
]
OLD = [("torch.Tensor", NOWHERE, ANYWHERE)]
ARRAYS = [
    ("torch.from_numpy", ["array"], NOWHERE),
    *((call, ["array"], ANYWHERE) for call in ("torch.tensor", "torch.as_tensor")),
]
TENSORS = [(call, [CPU, PLACE], ANYWHERE) for call in ("torch.tensor", "torch.as_tensor")]
LIKE_IT = [
    *((call, [CPU, PLACE], ANYWHERE) for call in ("torch.zeros_like", "Tensor.new_zeros")),
    *((call, [CPU, PLACE], NOWHERE) for call in ("Tensor.add", "Tensor.clone", "Tensor.detach", "torch.nn.Parameter")),
]
MOVED = [
    *((call, [CPU, PLACE], [CPU, PLACE]) for call in ("Tensor.to", "Tensor.to copy")),
    ("Tensor.cpu", [CPU, PLACE], NOWHERE),
]
LOADED = [("torch.load", [CPU, PLACE], ANYWHERE)]


def situations(*asked, place, seed):
    """All situations of the calls, in an order that varies."""
    found = [
        {"call": call, "source": source, "device": device, "context": context}
        for call, sources, devices in asked
        for source, device, context in itertools.product(sources, devices, ANYWHERE)
    ]
    named = [{key: place if each == PLACE else each for key, each in one.items()} for one in found]
    random.Random(seed).shuffle(named)
    return [each for each in named if place != "meta" or not _leaves_meta(**each)]


def _leaves_meta(call, source, device, context):
    return source == "meta" and call in MOVING and (call == "Tensor.cpu" or CPU in (device, context))


def predicted(run, seed, device, *asked):
    """Each situation is predicted as it comes out, with the meta device and with the accelerator where there is one."""
    asked_here = situations(*asked, place="meta", seed=seed)
    _compare(run("ask", situations=asked_here), asked_here, outcomes(asked_here))
    if device.type != CPU:
        asked_there = situations(*asked, place=device.torch, seed=seed)
        seen = run("ask_and_play", situations=asked_there)
        _compare(seen, asked_there, [_live(seen, at) for at in range(len(asked_there))])


def _live(seen, at):
    if seen.get("live", at) == "raises":
        return "raises"
    return [seen.text("live", at, 0), seen.flag("live", at, 1)]


def _compare(seen, asked, live):
    for at, (situation, right) in enumerate(zip(asked, live, strict=True)):
        said = seen.get("told", at)
        where = _words(**situation)
        if isinstance(said, str):
            require(said == "raises", f"{where}: {said[:20]!r} is no prediction")
            require(right == "raises", f"{where}: it does not raise")
            continue
        require(len(seen.list("told", at, what=f"{where}: the prediction")) == 2, f"{where}: no device and flag")
        place = seen.text("told", at, 0, what=f"{where}: the predicted device")
        shares = seen.flag("told", at, 1, what=f"{where}: whether memory is shared")
        if right == "raises":
            fail(f"{where}: it raises")
        require(place == right[0], f"{where}: it is not born on {place[:20]!r}", detail=f"on {right[0]}")
        require(shares == right[1], f"{where}: memory is {'not ' * shares}shared")


def _words(call, source, device, context):
    parts = {"from": source, "device": device, "context": context}
    return ", ".join([call, *(f"{name} {each}" for name, each in parts.items() if each is not None)])


def test_made_of_nothing(run, seed, device):
    """What is made of sizes or of a list is born where the device says, else the context, else on the CPU."""
    predicted(run, seed, device, *NOTHING)


def test_the_old_constructor(run, seed, device):
    """`torch.Tensor` is of the CPU, whatever the context, and refuses another device."""
    predicted(run, seed, device, *OLD)


def test_made_of_an_array(run, seed, device):
    """An array's memory is shared where the tensor stays on the CPU and the call does not promise a copy."""
    predicted(run, seed, device, *ARRAYS)


def test_made_of_a_tensor(run, seed, device):
    """`torch.tensor` and `torch.as_tensor` of a tensor follow device and context, and stay with it if there is none."""
    predicted(run, seed, device, *TENSORS)


def test_it_takes_after_a_tensor(run, seed, device):
    """What takes after a tensor is born where that is, whatever the context."""
    predicted(run, seed, device, *LIKE_IT)


def test_it_is_moved(run, seed, device):
    """A move makes a copy where there is something to move, or where a copy is asked for."""
    predicted(run, seed, device, *MOVED)


def test_it_is_loaded(run, seed, device):
    """A file's tensor goes back to where it was saved, unless `map_location` says where."""
    predicted(run, seed, device, *LOADED)


def test_nothing_is_tried(run, seed):
    """No tensor is made for a prediction, whichever it is, nor when the file is run."""
    asked = situations(*NOTHING, *OLD, *ARRAYS, *TENSORS, *LIKE_IT, *MOVED, *LOADED, place="meta", seed=seed)
    for when, seen in {"to predict": run("ask", situations=asked), "when the file is run": run("load_again")}.items():
        require(not seen.trace().ops, f"a tensor is made {when}")
