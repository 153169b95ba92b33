"""What is demanded of `meet`: what comes of an operation when it is played. No right answer is written here.

It is played beside the submission, after all its predictions. So that these cannot be made true by changing torch, some
outcomes that are beyond doubt are looked for among what is played.
"""

import itertools
import random

from proctorch.judge.checks import fail, require

CPU = "cpu"
ANY = (0, 1, 2)
EACH = [*itertools.product(ANY, ANY)]
#: What is changed in place takes what is not larger than itself.
SMALLER = [(first, second) for first, second in EACH if second <= first]
MATRICES = [(2, 2)]


def situations(device, seed, asked):
    """All situations of the calls, whose dimensions are given, in an order that varies: (call, operands)."""
    found = [
        [call, [list(each) for each in zip(places, dims, strict=True)]]
        for call, kinds in asked.items()
        for dims in kinds
        for places in itertools.product((CPU, device.torch), repeat=len(dims))
    ]
    random.Random(seed).shuffle(found)
    return found


def predicted(run, seed, device, asked):
    """Each situation of the calls is predicted as it comes out."""
    given = situations(device, seed, asked)
    seen = run("ask_and_play", situations=given)
    for at, (call, operands) in enumerate(given):
        live = seen.text("live", at, what="what was played")
        _beyond_doubt(call, operands, live)
        where = _words(call, operands)
        said = seen.text("told", at, what=f"{where}: the prediction")
        if said == live:
            continue
        if live == "raises":
            fail(f"{where}: it raises")
        require(said != "raises", f"{where}: it does not raise")
        fail(f"{where}: the result is not on {said[:20]!r}", detail=f"it is on {live}")


def _beyond_doubt(call, operands, live):
    places = {place for place, _ in operands}
    if len(places) == 1 and not call.startswith(("torch.tensor", "pack")):
        require(live in places, "torch does not compute on one device any more; has it been changed?")
    if len(places) == 2 and call in ("a + b", "a @ b", "torch.cat([a, b])") and all(dims == 2 for _, dims in operands):
        require(live == "raises", "torch mixes devices that it does not mix; has it been changed?")


def _words(call, operands):
    names = (f"{name} on {place} with {dims} dimensions" for name, (place, dims) in zip("abc", operands, strict=False))
    return f"{call}, {', '.join(names)}"


def test_point_by_point(run, seed, device):
    """Sums, comparisons and maxima: a CPU number may join, and nothing else."""
    predicted(run, seed, device, dict.fromkeys(("a + b", "a > b", "torch.maximum(a, b)"), EACH))


def test_three_operands(run, seed, device):
    """`where` and `masked_fill`: the mask has a device as well, and two CPU numbers may join."""
    chosen = [(2, first, second) for first, second in itertools.product((0, 2), (0, 2))]
    predicted(run, seed, device, {"torch.where(a, b, c)": chosen, "a.masked_fill(b, c)": [(2, 2, 0)]})


def test_written_into(run, seed, device):
    """What is written into stays where it is: a copy crosses, a number may cross, a sum may not."""
    in_place = dict.fromkeys(("a.add_(b)", "a.copy_(b)"), SMALLER)
    predicted(run, seed, device, {**in_place, "a.fill_(b)": [(0, 0), (2, 0)], "a[0] = b": [(2, 0), (2, 1)]})


def test_put_together(run, seed, device):
    """Products, `cat` and `stack` admit no difference, of numbers neither."""
    stacked = {"torch.stack([a, b])": [(0, 0), (2, 2)], "torch.cat([a, b])": [(1, 1), (2, 2)]}
    predicted(run, seed, device, {**dict.fromkeys(("a @ b", "functional.linear(a, b)"), MATRICES), **stacked})


def test_by_index(run, seed, device):
    """Square brackets take an index from the CPU, and other lookups do not."""
    brackets = dict.fromkeys(("a[b]", "a[b] = 0.0"), ((2, 1), (2, 2)))
    others = {"a.index_select(0, b)": [(2, 1)], "a.gather(0, b)": MATRICES, "functional.embedding(a, b)": [(1, 2)]}
    predicted(run, seed, device, {**brackets, **others})


def test_layers_and_losses(run, seed, device):
    """Labels, weights of classes and states are where the input is; lengths are on the CPU."""
    losses = {"functional.cross_entropy(a, b)": [(2, 1)], "functional.cross_entropy(a, b, weight=c)": [(2, 1, 1)]}
    sequences = {"torch.nn.GRU(3, 3)(a, b)": MATRICES, "pack_padded_sequence(a, b)": [(3, 1)]}
    predicted(run, seed, device, losses | sequences)


def test_across_on_purpose(run, seed, device):
    """What is read by the host, or asked to move, never raises."""
    crossing = {"torch.tensor([a, b])": [(0, 0)], "a * float(b)": [(0, 0), (2, 0)], "a.to(b)": [(0, 2), (2, 0), (2, 2)]}
    predicted(run, seed, device, crossing)


def test_nothing_is_tried(run, seed, device):
    """No tensor is made for a prediction, nor when the file is run."""
    asked = situations(device, seed, {"a + b": EACH, "a @ b": MATRICES})
    for when, seen in {
        "to predict": run("ask_and_play", situations=asked),
        "as the file is run": run("load_again"),
    }.items():
        require(not seen.trace().ops, f"a tensor is made {when}")
