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
#: What is asked: the calls, and the dimensions of their operands.
POINT_BY_POINT = dict.fromkeys(("a + b", "a > b", "torch.maximum(a, b)"), EACH)
THREE_OPERANDS = {
    "torch.where(a, b, c)": [(2, first, second) for first, second in itertools.product((0, 2), (0, 2))],
    "a.masked_fill(b, c)": [(2, 2, 0)],
}
WRITTEN_INTO = {
    **dict.fromkeys(("a.add_(b)", "a.copy_(b)"), SMALLER),
    "a.fill_(b)": [(0, 0), (2, 0)],
    "a[0] = b": [(2, 0), (2, 1)],
}
PUT_TOGETHER = {
    **dict.fromkeys(("a @ b", "functional.linear(a, b)"), MATRICES),
    "torch.stack([a, b])": [(0, 0), (2, 2)],
    "torch.cat([a, b])": [(1, 1), (2, 2)],
}
BY_INDEX = {
    **dict.fromkeys(("a[b]", "a[b] = 0.0"), ((2, 1), (2, 2))),
    "a.index_select(0, b)": [(2, 1)],
    "a.gather(0, b)": MATRICES,
    "functional.embedding(a, b)": [(1, 2)],
}
LAYERS_AND_LOSSES = {
    "functional.cross_entropy(a, b)": [(2, 1)],
    "functional.cross_entropy(a, b, weight=c)": [(2, 1, 1)],
    "torch.nn.GRU(3, 3)(a, b)": MATRICES,
    "pack_padded_sequence(a, b)": [(3, 1)],
}
ACROSS_ON_PURPOSE = {
    "torch.tensor([a, b])": [(0, 0)],
    "a * float(b)": [(0, 0), (2, 0)],
    "a.to(b)": [(0, 2), (2, 0), (2, 2)],
}
ALL = (POINT_BY_POINT, THREE_OPERANDS, WRITTEN_INTO, PUT_TOGETHER, BY_INDEX, LAYERS_AND_LOSSES, ACROSS_ON_PURPOSE)


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


def test_point_by_point(run, shared_seed, device):
    """Sums, comparisons and maxima: a CPU number may join, and nothing else."""
    predicted(run, shared_seed, device, POINT_BY_POINT)


def test_three_operands(run, shared_seed, device):
    """`where` and `masked_fill`: the mask has a device as well, and two CPU numbers may join."""
    predicted(run, shared_seed, device, THREE_OPERANDS)


def test_written_into(run, shared_seed, device):
    """What is written into stays where it is: a copy crosses, a number may cross, a sum may not."""
    predicted(run, shared_seed, device, WRITTEN_INTO)


def test_put_together(run, shared_seed, device):
    """Products, `cat` and `stack` admit no difference, of numbers neither."""
    predicted(run, shared_seed, device, PUT_TOGETHER)


def test_by_index(run, shared_seed, device):
    """Square brackets take an index from the CPU, and other lookups do not."""
    predicted(run, shared_seed, device, BY_INDEX)


def test_layers_and_losses(run, shared_seed, device):
    """Labels, weights of classes and states are where the input is; lengths are on the CPU."""
    predicted(run, shared_seed, device, LAYERS_AND_LOSSES)


def test_across_on_purpose(run, shared_seed, device):
    """What is read by the host, or asked to move, never raises."""
    predicted(run, shared_seed, device, ACROSS_ON_PURPOSE)


def test_nothing_is_tried(run, shared_seed, device):
    """No tensor is made for any prediction, nor when the file is run."""
    for asked in ALL:  # in the very runs that the other checks look at: an answer may remember what it has tried
        seen = run("ask_and_play", situations=situations(device, shared_seed, asked))
        require(not seen.trace().ops, "a tensor is made to predict")
    require(not run("load_again").trace().ops, "a tensor is made as the file is run")
