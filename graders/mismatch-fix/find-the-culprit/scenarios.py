"""Models in which two devices meet, or do not. A name that is told is followed to the tensor that it leads to."""

import contextlib
import types

import torch
from torch import nn
from torch.nn import functional


class Broken(Exception):
    """What a model raises for a reason of its own."""


class Stopped(KeyboardInterrupt):
    """Somebody does not want to wait."""


class _Block(nn.Module):
    """A residual block. `more` is what it does besides: a function of the block, its input and what else was given."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)
        self.more = None

    def forward(self, x, given):
        x = x + torch.tanh(self.mix(self.norm(x)))
        return x if self.more is None else self.more(self, x, given)


class _Net(nn.Module):
    """Blocks and a head. Each run of it, or of a copy, is noted with the modes that it sees, its parts' among them."""

    runs = []  # noqa: RUF012 - of all of them together

    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(_Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 3)
        self.losses = {"main": nn.CrossEntropyLoss(weight=torch.ones(3))}
        self.family = [self]

    def forward(self, x, pair=(), *, context=None, labels=None):
        self.runs.append([[part.training for part in self.modules()], torch.is_grad_enabled()])
        for block in self.blocks:
            x = x.to(block.norm.weight.device) if context == "hand over" else x
            x = block(x, {"pair": pair, "context": context})
        logits = self.head(x)
        return logits if labels is None else self.losses["main"](logits, labels)


class _Adds(nn.Module):
    """Adds a tensor that it keeps in an attribute."""

    def __init__(self, width):
        super().__init__()
        self.kept = torch.ones(width)

    def forward(self, x):
        return x + self.kept

    def added(self, x):
        """The same, by a method that is not `forward`."""
        return x + self.kept


def locate(candidate, device, probe, *, case, place, sizes, at, why=""):
    """One case, on the meta device or on the job's: what is told, and which tensors the names lead to."""
    net, args, kwargs = _made(case, torch.device("meta") if place == "meta" else device, sizes, at, why)
    outcome = probe.attempt(candidate.explain_mismatch, net, args, kwargs)
    if "raised" in outcome:
        return outcome
    told = outcome["returned"]
    return {"told": told, "leads": _leads(told, net, args, kwargs)}


def attempt(candidate, device, probe, *, case, place, sizes, at, why):
    """One case in which the model raises something else: what it raises by itself, and what comes out."""
    net, args, kwargs = _made(case, torch.device("meta") if place == "meta" else device, sizes, at, why)
    own = probe.attempt(net, *args, **kwargs)
    return {"own": own, "out": probe.attempt(candidate.explain_mismatch, net, args, kwargs)}


def runs(candidate, device, probe, *, case, sizes, at, training, grad):
    """In which modes the model was given, and in which it saw itself run, each time. One block is in another mode."""
    net, args, kwargs = _made(case, device, sizes, at, "")
    net.dropout = nn.Dropout()
    net.train(training).blocks[0].train(not training)
    given = [[part.training for part in net.modules()], grad]
    _Net.runs.clear()
    with torch.set_grad_enabled(grad):
        probe.attempt(candidate.explain_mismatch, net, args, kwargs)
    return {"given": given, "runs": [*_Net.runs]}


def untouched(candidate, device, probe, *, case, sizes, at):
    """With a model that changes when it runs: for each thing that it might leave changed, whether it is as before."""
    width = sizes[1]
    net, args, kwargs = _made(case, device, sizes, at, "broken")
    first = net.blocks[0]
    first.norm = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(width), _Counts(), nn.LayerNorm(width)).to(device)
    first.mix.eval()
    first.mix.register_forward_pre_hook(_look)
    first.register_forward_hook(_look)
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    held = [*net.parameters(), *net.buffers()]
    before = _state(net, device, held)
    with contextlib.suppress(Stopped):
        probe.attempt(candidate.explain_mismatch, net, args, kwargs)
    after = _state(net, device, held)
    return {name: _same(before[name], after[name]) for name in before}


def _look(*_):
    """A hook that changes nothing, as somebody may have registered it."""


class _Counts(nn.Module):
    """Counts its calls in a buffer that it replaces, and in one that it changes, which `state_dict` does not have."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("all", torch.zeros(1), persistent=False)

    def forward(self, x):
        self.count = self.count + 1
        self.all += 1
        return x


# -------------------------------------------------------------------------------------------------------- the cases


def _made(case, place, sizes, at, why):
    """The net of a case, its args and its kwargs."""
    rows, width, depth = sizes
    net = _Net(width, depth)
    block = net.blocks[at]

    def ones(*shape, on=place):
        return torch.ones(*shape, device=on)

    x = ones(rows, width)
    given = types.SimpleNamespace(at=at, why=why, place=place, ones=ones, x=x, rows=rows, width=width)
    args, kwargs = _CASES[case](net, block, given)
    return net, args, kwargs


def _argument(net, _block, given):
    net.to(given.place)
    return (given.ones(given.rows, given.width, on="cpu"),), {}


def _in_a_tuple(net, block, given):
    block.more = lambda _, x, more: x + more["pair"][0] + more["pair"][1]
    net.to(given.place)
    return (given.x, (given.ones(given.width), given.ones(given.width, on="cpu"))), {}


def _in_a_keyword(net, block, given):
    block.more = lambda _, x, more: x * more["context"]["scale"] + more["context"]["steps"][1]["shift"]
    net.to(given.place)
    steps = [given.ones(given.width), {"name": "shift", "shift": given.ones(given.width, on="cpu")}]
    context = {"scale": given.ones(given.width), "steps": steps}
    context["whole"] = context
    return (given.x,), {"context": context}


def _parameter(net, block, given):
    net.to(given.place)
    block.norm.weight = nn.Parameter(torch.ones(given.width))
    block.twin = block.norm
    return (given.x,), {}


def _split(net, _block, given):
    net.blocks[given.at :].to(given.place)
    net.head.to(given.place)
    return (given.ones(given.rows, given.width, on="cpu"),), {}


def _alias(net, block, given):
    block.register_buffer("shift", torch.ones(given.width))
    block._views = [block.shift]  # noqa: SLF001 - a name like others
    block.more = lambda own, x, _: x + own._views[0]  # noqa: SLF001
    net.to(given.place)
    return (given.x,), {}


def _layers(net, block, given):
    block.layers = {"extra": [nn.Linear(given.width, given.width)]}
    block.more = lambda own, x, _: own.layers["extra"][0](x)
    net.to(given.place)
    return (given.x,), {}


def _method(net, block, given):
    block.part = _Adds(given.width)
    block.more = lambda own, x, _: own.part.added(x)
    net.to(given.place)
    return (given.x,), {}


def _loss(net, _block, given):
    net.to(given.place)
    return (given.x,), {"labels": torch.zeros(given.rows, dtype=torch.int64, device=given.place)}


def _slice(net, block, given):
    block.more = lambda own, x, _: x + own.table.detach()[1 : 1 + len(x)]
    net.to(given.place)
    block.table = nn.Parameter(torch.ones(given.rows + 2, given.width))
    return (given.x,), {}


def _transpose(net, block, given):
    block.more = lambda own, x, _: x + own.grid.T
    net.to(given.place)
    block.register_buffer("grid", torch.ones(given.width, given.rows))
    return (given.x,), {}


def _positions(net, block, given):
    block.more = lambda _, x, __: x + torch.arange(x.shape[-1], dtype=x.dtype)
    net.to(given.place)
    return (given.x,), {}


def _kept(net, block, given):
    block.fresh = None
    block.more = _keeps
    net.to(given.place)
    return (given.x,), {}


def _keeps(own, x, _):
    """Keeps what it makes, as a cache does."""
    own.fresh = torch.arange(x.shape[-1], dtype=x.dtype)
    return x + own.fresh


def _state_of_rnn(net, block, given):
    block.rnn = nn.GRU(given.width, given.width)
    block.more = lambda own, x, _: own.rnn(x, torch.zeros(1, x.shape[-1]))[0]
    net.to(given.place)
    return (given.x,), {}


def _healthy(net, _block, given):
    net.to(given.place)
    return (given.x,), {}


def _handed_over(net, _block, given):
    net.blocks[given.at :].to(given.place)
    net.head.to(given.place)
    return (given.ones(given.rows, given.width, on="cpu"),), {"context": "hand over"}


def _number(net, block, given):
    block.factor = torch.tensor(0.5)
    block.more = lambda own, x, _: x * own.factor
    net.to(given.place)
    return (given.x,), {}


def _number_from_there(net, block, given):
    block.factor = torch.ones((), device=given.place)
    block.more = lambda own, x, _: x * own.factor
    net.to("cpu")
    return (given.ones(given.rows, given.width, on="cpu"),), {}


def _handles(own, x):
    """Adds what a part has on the CPU. On another device that raises, and it goes another way."""
    try:
        return own.part(x)
    except RuntimeError:
        return x + own.part.kept.to(x.device)


def _handled(net, block, given):
    block.part = _Adds(given.width)
    block.more = lambda own, x, _: _handles(own, x)
    net.to(given.place)
    return (given.x,), {}


def _handled_and_another(net, block, given):
    block.part = _Adds(given.width)
    block.more = lambda own, x, _: _handles(own, x) + torch.arange(x.shape[-1], dtype=x.dtype)
    net.to(given.place)
    return (given.x,), {}


def _shape(net, block, given):
    block.more = lambda _, x, __: x + torch.ones(x.shape[-1] + 1, device=x.device)
    net.to(given.place)
    return (given.x,), {}


def _shape_with_a_number(net, block, given):
    block.more = lambda _, x, __: torch.addcmul(
        x, torch.ones(len(x), x.shape[-1] + 1, device=x.device), torch.tensor(2.0)
    )
    net.to(given.place)
    return (given.x,), {}


def _column(net, block, given):
    block.ids = torch.zeros(given.rows, dtype=torch.int64)
    block.more = lambda own, x, _: x[own.ids, x.shape[-1] + 2]
    net.to(given.place)
    return (given.x,), {}


def _raises(error):
    raise error


def _own(net, block, given):
    block.why = given.why
    block.more = lambda own, _, __: _raises(Broken(own.why))
    net.to(given.place)
    return (given.x,), {}


def _own_words(net, block, given):
    block.why = given.why
    block.more = lambda own, _, __: _raises(RuntimeError(own.why))
    net.to(given.place)
    return (given.x,), {}


def _own_after_a_handled_one(net, block, given):
    block.part, block.why = _Adds(given.width), given.why
    block.more = lambda own, x, _: _handles_and_raises(own, x)
    net.to(given.place)
    return (given.x,), {}


def _handles_and_raises(own, x):
    _handles(own, x)
    raise RuntimeError(own.why)


def _own_from_a_device_error(net, block, given):
    block.part, block.why = _Adds(given.width), given.why
    block.more = lambda own, x, _: _says_why(own, x)
    net.to(given.place)
    return (given.x,), {}


def _says_why(own, x):
    try:
        return own.part(x)
    except RuntimeError as error:
        raise Broken(own.why) from error


def _stopped(net, block, given):
    block.more = lambda *_: _raises(Stopped())
    net.to(given.place)
    return (given.x,), {}


def _stray_on_meta(net, block, given):
    block.part = _Adds(given.width)
    block.part.kept = torch.ones(given.width, device="meta")
    block.more = lambda own, x, _: own.part(x)
    net.to(given.place)
    return (given.x,), {}


def _lookup(net, block, given):
    block.vectors = nn.Parameter(torch.ones(4, given.width))
    block.more = lambda own, x, _: x + functional.embedding(own.ids, own.vectors)
    net.to(given.place)
    block.register_buffer("ids", torch.zeros(given.rows, dtype=torch.int64))
    return (given.x,), {}


def _index(net, block, given):
    block.register_buffer("ids", torch.zeros(given.rows, dtype=torch.int64))
    block.more = lambda own, x, _: x + own.table[own.ids]
    net.to(given.place)
    block.table = nn.Parameter(torch.ones(4, given.width))
    return (given.x,), {}


def _three(net, block, given):
    block.scale, block.shift = torch.ones(given.width), torch.ones(given.width, device="meta")
    block.more = lambda own, x, _: torch.addcmul(x, own.scale, own.shift)
    net.to(given.place)
    return (given.x,), {}


def _convolution(net, block, given):
    block.conv = nn.Conv1d(1, 1, 3, padding=1)
    block.more = lambda own, x, _: own.conv(x[:, None])[:, 0]
    net.to(given.place)
    block.conv.to("cpu")
    return (given.x,), {}


_CASES = {
    "argument": _argument,
    "in a tuple": _in_a_tuple,
    "in a keyword": _in_a_keyword,
    "parameter": _parameter,
    "split": _split,
    "alias": _alias,
    "layers": _layers,
    "method": _method,
    "loss": _loss,
    "slice": _slice,
    "transpose": _transpose,
    "positions": _positions,
    "kept": _kept,
    "state": _state_of_rnn,
    "healthy": _healthy,
    "handed over": _handed_over,
    "number": _number,
    "number from there": _number_from_there,
    "handled": _handled,
    "handled, and another": _handled_and_another,
    "shape": _shape,
    "shape with a number": _shape_with_a_number,
    "column": _column,
    "own": _own,
    "own words": _own_words,
    "own after a handled one": _own_after_a_handled_one,
    "own from a device error": _own_from_a_device_error,
    "stopped": _stopped,
    "stray on meta": _stray_on_meta,
    "lookup": _lookup,
    "index": _index,
    "three": _three,
    "convolution": _convolution,
}


# ------------------------------------------------------------------------------------------------ names and their ends


def _leads(told, net, args, kwargs):
    """For each name that is told, one name of the tensor that it leads to, always the same; empty if to none."""
    names = told.get("tensors") if type(told) is dict else None
    if type(names) is not dict:
        return {}
    roots = {"args": args, "kwargs": kwargs}
    known = {}
    for path, tensor in [
        *net.named_parameters(),
        *net.named_buffers(),
        *_walk(roots, "", set()),
        *_walk(net, "", set()),
    ]:
        known.setdefault(tensor.untyped_storage()._cdata, path)  # noqa: SLF001 - on meta an address tells nothing
    ends = {name: _follow(name, net, roots) for name in names if type(name) is str}
    return {
        name: known.get(end.untyped_storage()._cdata, "another") if isinstance(end, torch.Tensor) else ""  # noqa: SLF001
        for name, end in ends.items()
    }


def _inside(thing):
    if isinstance(thing, nn.Module):
        return {**thing._parameters, **thing._buffers, **thing._modules, **vars(thing)}  # noqa: SLF001 - all names
    if isinstance(thing, dict):
        return {str(key): each for key, each in thing.items()}
    return {str(index): each for index, each in enumerate(thing)} if isinstance(thing, (list, tuple)) else {}


def _walk(thing, path, visited):
    if id(thing) in visited:
        return
    visited.add(id(thing))
    if isinstance(thing, torch.Tensor):
        yield path, thing
        return
    for name, each in _inside(thing).items():
        yield from _walk(each, f"{path}.{name}" if path else name, visited)


def _follow(name, net, roots):
    first, *rest = name.split(".")
    found = roots.get(first, _inside(net).get(first))
    for step in rest:
        found = _inside(found).get(step)
    return found


# ------------------------------------------------------------------------------------------------- what may be changed


def _state(net, device, held):
    """Of a model and of torch, what a run might leave changed. `held` are the tensors that were in the model before."""
    parts, tensors = [*net.modules()], [*net.parameters(), *net.buffers()]
    kept = [vars(each) for each in parts] + [vars(nn.modules.module)]
    random = [torch.get_rng_state()]
    if device.type == "cuda":
        random.append(torch.cuda.get_rng_state(device))
    return {
        "hooks": [[*each[name]] for each in kept for name in sorted(each) if name.endswith("_hooks")],
        "the modules' attributes": [sorted(each) for each in kept[:-1]],
        "training or evaluation": [each.training for each in parts],
        "which tensors are in the model": [any(each is other for other in held) for each in tensors],
        "devices": [str(each.device) for each in tensors],
        "values of parameters or buffers": [each.detach().to("cpu", copy=True) for each in tensors],
        "gradients": [each.grad if each.grad is None else each.grad.to("cpu", copy=True) for each in net.parameters()],
        "random generators": random,
        "torch's own modes": [
            torch._C._len_torch_function_stack(),  # noqa: SLF001 - there is no other way to ask
            torch._C._len_torch_dispatch_stack(),  # noqa: SLF001 - as above
            torch.is_grad_enabled(),
        ],
    }


def _same(before, after):
    return len(before) == len(after) and all(
        torch.equal(one, other) if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) else one == other
        for one, other in zip(before, after, strict=True)
    )
