"""What is demanded of `resume`."""

import copy

import pytest
import torch

from proctorch.judge.checks import close, require

#: What float32 explains many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
#: The parameters in the order of the groups: weights, then biases. No gradient comes to the last one.
NAMES = ("first.weight", "second.weight", "first.bias", "second.bias")
TRAINED = NAMES[:-1]


def task(seed, kind, *, falling=False):
    """A checkpoint of a training with one kind of optimizer, and the batches that come next. All is drawn.

    With `falling`, the checkpoint has other settings than an optimizer starts with, different ones for each group.
    """
    dice = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=dice)

    def draw(low, high):
        return int(torch.randint(low, high, (), generator=dice))

    features, hidden, rows = draw(2, 5), draw(5, 9), draw(6, 10)
    rate = draw(3, 9) / 100
    model = {
        "first.weight": normal(hidden, features),
        "first.bias": normal(hidden),
        "second.weight": normal(1, hidden),
        "second.bias": normal(1),
        "shift": normal(features),
    }
    batches = [(normal(rows, features), normal(rows, 1)) for _ in range(2)]
    count = float(draw(3, 9))

    def state_of(value):
        step = torch.tensor(count)
        match kind:
            case "adam":
                return {"step": step, "exp_avg": normal(*value.shape), "exp_avg_sq": normal(*value.shape).square()}
            case "adagrad":
                return {"step": step, "sum": normal(*value.shape).square() + 0.5}
            case "momentum":
                return {"momentum_buffer": normal(*value.shape)}
            case _:
                recent = [normal(*value.shape), normal(*value.shape)]
                return {
                    "averages": {"slow": normal(*value.shape), "keeps": [draw(5, 9) / 10, draw(1, 5) / 10]},
                    "recent": recent,
                }

    groups = make(kind, {name: torch.nn.Parameter(value) for name, value in model.items()}, rate).state_dict()
    if falling:
        for group in groups["param_groups"]:
            group["lr"] = rate * draw(2, 8) / 10
            group["momentum"] = draw(1, 6) / 10
    state = {NAMES.index(name): state_of(model[name]) for name in TRAINED}
    saved = {"model": model, "optimizer": {"state": state, "param_groups": groups["param_groups"]}}
    return {"kind": kind, "sizes": [features, hidden], "rate": rate, "checkpoint": saved, "batches": batches}


def make(kind, leaves, rate):
    """The optimizer over the leaves in two groups; of the kind that is not torch's, only the groups."""
    groups = [{"params": [leaves[name] for name in NAMES if leaves[name].dim() == dim]} for dim in (2, 1)]
    match kind:
        case "adam":
            return torch.optim.Adam(groups, lr=rate)
        case "adagrad":
            return torch.optim.Adagrad(groups, lr=rate, lr_decay=0.1)
        case "momentum":
            return torch.optim.SGD(groups, lr=rate, momentum=0.9)
        case _:
            return Averaging(groups, {"lr": rate})


class Averaging(torch.optim.Optimizer):
    """What the scenario's own optimizer computes, and nothing in place."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for leaf in group["params"]:
                if leaf.grad is None:
                    continue
                state = self.state[leaf]
                keeps, adds = state["averages"]["keeps"]
                slow = keeps * state["averages"]["slow"] + adds * leaf.grad
                last = state["recent"][0]
                leaf.sub_(group["lr"] * (slow + (last + leaf.grad) / 2))
                state["averages"] = {"slow": slow, "keeps": [keeps, adds]}
                state["recent"] = [leaf.grad.clone(), last]


def reference(given):
    """The parameters after the batches, in float64, in a training that was never interrupted."""
    saved = given["checkpoint"]
    wide = {name: value.double() for name, value in saved["model"].items()}
    leaves = {name: wide[name].requires_grad_(name in TRAINED) for name in NAMES}
    optimizer = make(given["kind"], leaves, given["rate"])
    optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    for x, y in given["batches"]:
        optimizer.zero_grad()
        shift, wide["shift"] = wide["shift"], wide["shift"] / 2
        hidden = torch.tanh((x.double() + shift) @ leaves["first.weight"].T + leaves["first.bias"])
        out = hidden @ leaves["second.weight"].T + leaves["second.bias"]
        (out - y.double()).square().mean().backward()
        optimizer.step()
    return {name: leaf.detach() for name, leaf in leaves.items()}


def right(seen, path, given, device):
    """The weights at a place of the evidence are those of the training that was never interrupted."""
    raised = seen.dict(*path, "trained").get("raised")
    require(raised is None, "the next two updates raise an error", detail=f"{seen.get(*path, 'trained')}")
    for name, expected in reference(given).items():
        what = f"after the next two updates, {name}"
        mine = seen.tensor(
            *path, "trained", "returned", name, what=what, dtype="float32", shape=tuple(expected.shape), device=device
        )
        close(mine, expected, what, **TOLERANCE)


def there(seen, place, *parts):
    """The tensors of the model, of the optimizer's state, or of both are on the device."""
    for part, what in (("model", "the model's tensors"), ("state", "the tensors of the optimizer's state")):
        if part not in parts:
            continue
        found = seen.list(part)
        require(found, f"{what} are missing")
        others = [each for each in found if each != place]
        require(not others, f"{len(others)} of {len(found)} of {what} are not on the device that was asked for")


@pytest.mark.parametrize("kind", ["adam", "adagrad", "momentum"])
def test_the_next_updates(run, shared_seed, device, kind):
    """From a checkpoint of the CPU, the next two updates are those of a training that went on."""
    given = task(shared_seed, kind)
    seen = run("go_on", **given, origin="cpu", target="here")
    right(seen, [], given, device.torch)


def test_learning_rates(run, shared_seed, device):
    """Learning rate and momentum are those of the checkpoint, group by group, and not those of a new optimizer."""
    given = task(shared_seed, "momentum", falling=True)
    seen = run("go_on", **given, origin="cpu", target="here")
    right(seen, [], given, device.torch)


def test_nested_state(run, shared_seed, device):
    """Tensors that are deeper in the state are on the device, the meta device too, and the updates are right."""
    given = task(shared_seed, "averaging")
    there(run("go_on", **given, origin="cpu", target="meta"), "meta", "state")
    seen = run("go_on", **given, origin="cpu", target="here")
    there(seen, device.torch, "state")
    right(seen, [], given, device.torch)


def test_the_models_own_parameters(run, shared_seed, device):
    """On the meta device, where a move makes new parameters, and here, the optimizer has those of the model."""
    given = task(shared_seed, "adam")
    for target, place in (("meta", "meta"), ("here", device.torch)):
        seen = run("go_on", **given, origin="cpu", target=target)
        there(seen, place, "model")
        require(seen.flag("same"), f"on {place}, what the optimizer updates are not the model's own parameters")


@pytest.mark.parametrize(("kind", "origin"), [("adam", "cpu"), ("adam", "here"), ("averaging", "here")])
def test_the_checkpoint_stays(run, shared_seed, device, kind, origin):
    """Resuming and training change nothing in the checkpoint, and a second run from it is the same as the first."""
    given = task(shared_seed, kind)
    seen = run("twice", **given, origin=origin)
    unchanged(seen, ["saved"], given["checkpoint"], "cpu" if origin == "cpu" else device.torch)
    for name in NAMES:
        first, second = (
            seen.tensor("runs", at, "trained", "returned", name, what=f"after a run, {name}") for at in range(2)
        )
        close(second, first, f"after a second run from the same checkpoint, {name}", **TOLERANCE)


def test_back_to_the_cpu(run, shared_seed):
    """A checkpoint of the accelerator goes on on the CPU: state and updates are there and right."""
    given = task(shared_seed, "momentum")
    seen = run("go_on", **given, origin="here", target="cpu")
    there(seen, "cpu", "model", "state")
    right(seen, [], given, "cpu")


def unchanged(seen, path, expected, place):
    """At this place of the evidence is what was given, with its tensors where they were."""
    name = ".".join(map(str, path[1:])) or "the checkpoint"
    match expected:
        case torch.Tensor():
            told = seen.received(*path, what=f"in the checkpoint, {name}")
            same = told.tensor.dtype == expected.dtype and torch.equal(told.tensor, expected)
            require(same, f"in the checkpoint, {name} has changed")
            where = place if expected.dim() else "cpu"
            require(told.device == where, f"in the checkpoint, {name} is on {told.device} now")
        case dict():
            found = seen.dict(*path, what=f"in the checkpoint, {name}")
            require(found.keys() == expected.keys(), f"in the checkpoint, {name} has other keys now")
            for key, value in expected.items():
                unchanged(seen, [*path, key], value, place)
        case list() | tuple():
            count = len(seen.list(*path, what=f"in the checkpoint, {name}"))
            require(count == len(expected), f"in the checkpoint, {name} has {count} items now")
            for at, value in enumerate(expected):
                unchanged(seen, [*path, at], value, place)
        case _:
            found = seen.get(*path)
            same = type(found) is type(expected) and found == expected
            require(same, f"in the checkpoint, {name} has changed")
