"""Modules with tensors in all sorts of places, and what is told of them. A path that is told is followed to its end."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import NamedTuple

import torch
from torch import nn


class _Pair(NamedTuple):
    size: int
    value: torch.Tensor


def spread(candidate, _device, probe, *, width, height, depth, dtype):
    """A model in two parts on two devices, of different dtypes."""
    near = nn.Sequential(nn.Linear(width, height), nn.BatchNorm1d(height))
    far = nn.Sequential(nn.Linear(height, depth, bias=False), nn.Sequential(nn.BatchNorm1d(depth)))
    return _ask(candidate, probe, nn.Sequential(near, far.to("meta", getattr(torch, dtype))), {})


def buffers(candidate, _device, probe, *, width, height):
    """A module that has buffers alone, of which some are not saved, in a module that has nothing of its own."""
    inner = nn.Module()
    inner.register_buffer("kept", torch.zeros(width))
    inner.register_buffer("derived", torch.zeros(width, height), persistent=False)
    inner.register_buffer("later", None)
    outer = nn.Module()
    outer.inner = inner
    outer.register_buffer("mask", torch.zeros(height, dtype=torch.bool), persistent=False)
    return _ask(candidate, probe, outer, {})


def shared(candidate, _device, probe, *, width, height, rows, place):
    """Weights that are tied, buffers that are a part of a weight or of another buffer, and a slice of more."""
    model = nn.Module()
    model.embedding = nn.Embedding(height, width, device=place)
    model.head = nn.Linear(width, height, bias=False, device=place)
    model.head.weight = model.embedding.weight
    table = torch.zeros(rows, width, device=place)
    model.register_buffer("table", table)
    model.register_buffer("first", table[0])
    model.register_buffer("padding", model.embedding.weight.detach()[0])
    model.register_buffer("part", torch.zeros(rows, height, dtype=torch.float64, device=place)[1:2])
    return _ask(candidate, probe, model, {})


def tensors(candidate, _device, probe, *, width):
    """Tensors in attributes and containers of a module and of its parts, on two devices, and elsewhere."""
    model = nn.Sequential(nn.Linear(width, width), nn.Sequential(nn.ReLU()))
    deep = model[1][0]
    strays = {
        "an attribute of the module": torch.ones(width),
        "an attribute of a part's part": torch.ones(width, device="meta"),
        "in a list": torch.ones(2, device="meta"),
        "in a dict": torch.ones(3),
        "in a tuple": torch.ones(1),
        "in containers in containers": torch.ones(()),
        "a view of a parameter": model[0].weight[0],
        "a parameter in a list": nn.Parameter(torch.ones(2)),
        "an attribute whose name begins with an underscore": torch.ones(4),
        "in an OrderedDict": torch.ones(5),
        "in a namedtuple": torch.ones(6),
        "a view of a whole parameter": model[0].bias.detach(),
    }
    attribute, deeper, in_list, in_dict, in_tuple, nested, view, listed, hidden, ordered, named, whole = strays.values()
    model.scale, deep.scale = attribute, deeper
    model[0].names = ["left", "right", in_list, None, listed]
    deep.cache = {"text": "none", 7: in_dict, "size": width}
    model[1].pair = (in_tuple, 1.5)
    model.store = {"levels": [(0, {"mean": nested}), "x"]}
    deep.row, deep.whole = view, whole
    deep._memory = hidden  # noqa: SLF001 - a name like others
    model[1].order = OrderedDict(first=ordered)
    model.result = _Pair(width, named)
    model[0].weight.grad = torch.ones(width, width)
    model.options, deep.seen = SimpleNamespace(value=torch.ones(7)), {torch.ones(8)}
    return _ask(candidate, probe, model, strays)


def listed_modules(candidate, _device, probe, *, width):
    """Modules in a list, in a dict and in `vars`, which are not registered. One has the parameters of one that is."""
    model = nn.Sequential(nn.Linear(width, width))
    head, block = nn.Linear(width, 2), nn.Sequential(nn.BatchNorm1d(width, affine=False, device="meta"))
    head.scale = torch.ones(width)
    tied = nn.Linear(width, width)
    tied.weight, tied.bias = model[0].weight, model[0].bias
    model.heads, model[0].extra = [head, tied], {"block": (block,)}
    vars(model[0])["teacher"] = teacher = nn.Linear(width, 1, bias=False)
    norm = block[0]
    strays = {
        "a parameter of a module in a list": head.weight,
        "the bias of a module in a list": head.bias,
        "an attribute of a module in a list": head.scale,
        "a buffer of a part of a module in a tuple": norm.running_mean,
        "a second buffer of it": norm.running_var,
        "a third buffer of it": norm.num_batches_tracked,
        "a parameter of a module in vars": teacher.weight,
    }
    return _ask(candidate, probe, model, strays)


def aliases(candidate, _device, probe, *, width, rows):
    """Registered tensors and a registered module that are held in other places too, before and after a move."""
    model = nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width))
    model.register_buffer("table", torch.zeros(rows, width))
    model.shortcut = model.table
    model.fast = [model[1].running_mean, model[0]]
    model[0].views = {"first": model.table[0]}
    strays = {
        "an attribute that was a buffer": model.shortcut,
        "an item of a list that was a buffer": model.fast[0],
        "a view of what was a buffer": model[0].views["first"],
    }
    before = _ask(candidate, probe, model, strays)
    model.to("meta")
    return {"before": before, "after": _ask(candidate, probe, model, strays)}


def cycles(candidate, _device, probe, *, width):
    """A list that is in itself, a part that knows the whole, and a dict that has a module that has the dict."""
    model = nn.Sequential(nn.Linear(width, width), nn.Tanh())
    strays = {"an attribute": torch.ones(width), "in a list": torch.ones(2), "in a dict": torch.ones(3)}
    model.scale, in_list, in_dict = strays.values()
    ring = [in_list]
    ring.append(ring)
    model[0].ring, model[0].parent = ring, [model]
    model[1].known = {"value": in_dict, "owner": model[1]}
    model[1].known["self"] = model[1].known
    return _ask(candidate, probe, model, strays)


class _Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    @property
    def summary(self):
        self.calls += 1
        return self.calls

    def forward(self, x):
        self.calls += 1
        return x


def untouched(candidate, device, probe, *, width):
    """A model with a property and gradients: what of it is another thing afterwards, and which names its parts have."""
    model = nn.Sequential(nn.Linear(width, width), _Counting()).to(device)
    model[0](torch.ones(2, width, device=device)).sum().backward()
    model.register_buffer("table", torch.zeros(width))
    model.scales = [torch.ones(width), torch.ones(width, device=device)]
    before, names = _parts(model), _names(model)
    seen = _ask(candidate, probe, model, {})
    after, names_after = _parts(model), _names(model)
    same = len(before) == len(after) and all(
        one is other and was == now for (one, was), (other, now) in zip(before, after, strict=True)
    )
    return seen | {"same": same, "same_names": names == names_after, "calls": model[1].calls}


def on_the_accelerator(candidate, device, probe, *, width, rows):
    """A model that is moved to the job's device, with two tensors that stay and one that is there already."""
    model = nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width))
    model.register_buffer("table", torch.zeros(rows, width))
    strays = {
        "a constant on the CPU": torch.ones(width),
        "what was a buffer before the move": model.table,
        "a constant on the accelerator": torch.ones(width, device=device),
    }
    model.scale, alias, there = strays.values()
    model[0].kept = [alias, there]
    model.to(device)
    return _ask(candidate, probe, model, strays)


def _parts(model):
    found = [*model.parameters(), *model.buffers(), *model.scales, *(each.grad for each in model.parameters())]
    return [(each, (str(each.device), each._version)) for each in found]  # noqa: SLF001 - counts changes in place


def _names(model):
    return [set(vars(each)) for each in model.modules()]


def _ask(candidate, probe, module, known):
    """What is told of the module, and for each stray that is told which of the known tensors its path leads to."""
    with probe.watch():
        told = candidate.placement(module)
    if not (isinstance(told, (list, tuple)) and len(told) == 2 and isinstance(told[1], (list, tuple))):
        return {"told": told, "leads": []}
    held, strays = told
    plain = dict(held) if isinstance(held, dict) else held  # a Counter does not cross
    pairs = [tuple(each) if isinstance(each, (list, tuple)) else each for each in strays]
    return {"told": [plain, pairs], "leads": [_label(module, each, known) for each in pairs]}


def _label(module, stray, known):
    if not (isinstance(stray, tuple) and stray and isinstance(stray[0], str)):
        return ""
    end = _follow(module, stray[0])
    label = next((label for label, each in known.items() if each is end), "another")
    return label if isinstance(end, torch.Tensor) else ""


def _follow(found, path):
    for step in path.split("."):
        if isinstance(found, nn.Module):
            inside = {**vars(found), **found._parameters, **found._buffers, **found._modules}  # noqa: SLF001 - all names
        elif isinstance(found, dict):
            inside = {str(key): each for key, each in found.items()}
        elif isinstance(found, (list, tuple)):
            inside = {str(index): each for index, each in enumerate(found)}
        else:
            return None
        found = inside.get(step)
    return found
