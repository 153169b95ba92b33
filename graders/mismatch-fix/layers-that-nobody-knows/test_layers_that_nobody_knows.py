"""What is demanded of `Classifier`."""

import torch
from torch.nn.functional import linear

from proctorch.judge.checks import close, require

#: What float32 and the order of its sums explain many times over.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
#: None of them is a name that modules use, and they are not in the order of the alphabet.
NAMES = ("wing", "beak", "season", "nest", "colour")


def task(seed):
    """Sizes, tasks with the classes of their heads, weights by name, and inputs. One task has more than ten heads."""
    dice = torch.Generator().manual_seed(seed)

    def draw(low, high):
        return int(torch.randint(low, high, (), generator=dice))

    features, hidden, rows = draw(3, 7), draw(8, 13), draw(8, 13)
    count = draw(3, 6)
    heads = [draw(1, 4) for _ in range(count)]
    heads[draw(0, count)] = 11
    first = draw(0, 2)
    names = (NAMES[first], *(each for each in NAMES if each != NAMES[first]))
    tasks = {name: [draw(2, 6) for _ in range(many)] for name, many in zip(names, heads, strict=False)}
    state = {
        "trunk.weight": torch.randn(hidden, features, generator=dice),
        "trunk.bias": torch.randn(hidden, generator=dice),
        "scale": 0.5 + torch.rand(count, generator=dice),
    }
    for name, classes in tasks.items():
        for at, many in enumerate(classes):
            state[f"heads.{name}.{at}.weight"] = torch.randn(many, hidden, generator=dice) / hidden**0.5
            state[f"heads.{name}.{at}.bias"] = torch.randn(many, generator=dice)
    x = torch.randn(rows, features, generator=dice)
    return {"sizes": [features, hidden], "tasks": tasks, "state": state, "x": x}


def reference(given, state=None):
    """For each task the logits of its heads, in float64, of the given weights or of others."""
    weights = {name: each.double() for name, each in given["state"].items()} if state is None else state
    hidden = torch.relu(linear(given["x"].double(), weights["trunk.weight"], weights["trunk.bias"]))
    return [
        [
            linear(hidden, weights[f"heads.{name}.{at}.weight"], weights[f"heads.{name}.{at}.bias"])
            * weights["scale"][number]
            for at in range(len(classes))
        ]
        for number, (name, classes) in enumerate(given["tasks"].items())
    ]


def without(given, *names):
    return {name: value for name, value in given.items() if name not in names}


def right(seen, path, expected, what, device=None):
    """The outputs for all tasks at a place of the evidence are these."""
    for number, heads in enumerate(expected):
        count = len(seen.list(*path, number, what=what))
        require(count == len(heads), f"{what} has {count} tensors for a task of {len(heads)} heads")
        for at, logits in enumerate(heads):
            shape = tuple(logits.shape)
            mine = seen.tensor(*path, number, at, what=what, dtype="float32", shape=shape, device=device)
            close(mine, logits, what, **TOLERANCE)


def own(seen, path, given, what):
    """The outputs for all tasks at a place of the evidence: what others of the same module are compared with."""
    taken = []
    for number, classes in enumerate(given["tasks"].values()):
        count = len(seen.list(*path, number, what=what))
        require(count == len(classes), f"{what} has {count} tensors for a task of {len(classes)} heads")
        taken.append([seen.tensor(*path, number, at, what=what, dtype="float32").double() for at in range(count)])
    return taken


def test_the_parameters_are_known(run, shared_seed):
    """Built on the CPU or elsewhere, it has exactly the parameters of the list, trained, which start as they should."""
    given = task(shared_seed)
    seen = run("build", **without(given, "state", "x"))
    for at, where in enumerate(("on the CPU", "on the meta device")):
        known = seen.dict(at, "parameters", what="the list of the parameters")
        missing = [name for name in given["state"] if name not in known]
        require(not missing, f"built {where}, the module does not know the parameter {(missing or [''])[0]}")
        require(len(known) == len(given["state"]), f"built {where}, the module has parameters that are not in the list")
        for name, value in given["state"].items():
            shape = seen.list(at, "parameters", name, "shape")
            require(shape == [*value.shape], f"built {where}, {name} has the shape {shape}", detail=str(value.shape))
            dtype = seen.text(at, "parameters", name, "dtype")
            require(dtype == "float32", f"built {where}, {name} has the dtype {dtype}")
            trained = seen.flag(at, "parameters", name, "requires_grad")
            require(trained, f"built {where}, {name} does not require a gradient")
    starts_right(seen, given)


def starts_right(seen, given):
    """The scale of a new module is ones. The rest is spread evenly within the bound of `nn.Linear`, anew for each."""
    values = {
        name: seen.tensor(0, "values", name, what=name, dtype="float32", shape=tuple(each.shape)).double()
        for name, each in given["state"].items()
    }
    require(bool((values.pop("scale") == 1).all()), "the scale of a new module is not all ones")
    features, hidden = given["sizes"]
    inputs = {name: features if name.startswith("trunk") else hidden for name in values}
    share = torch.cat([value.flatten() * inputs[name] ** 0.5 for name, value in values.items()])
    bound, mean = float(share.abs().max()), float(share.abs().mean())
    even = 0.9 < bound < 1.0001 and 0.4 < mean < 0.6
    require(even, "the layers of a new module do not start as those of nn.Linear", detail=f"{bound=} {mean=}")
    require(len(share.unique()) > 0.9 * len(share), "layers of a new module start with the same numbers")


def test_the_outputs_are_right(run, shared_seed, device):
    """For each task there is a list of the logits of its heads, in their order, each times the task's scale."""
    given = task(shared_seed)
    right(run("compute", **given), ["outputs"], reference(given), "the output", device.torch)


def test_all_of_it_goes_along(run, shared_seed):
    """Built on the meta device, or moved there alone or as a part, all of it is there. A copy stands on its own."""
    given = task(shared_seed)
    seen = run("elsewhere", **given)
    for name in ("built there", "moved", "moved as a part of another module"):
        where = f"on another device ({name})"
        parts = seen.list("parts", name)
        require(len(parts) == len(given["state"]), f"{where}, the module has {len(parts)} parameters")
        stays = [each for each in parts if each != "meta"]
        require(not stays, f"{where}, {len(stays)} of {len(parts)} parameters are not there")
        for number, classes in enumerate(given["tasks"].values()):
            count = len(seen.list("there", name, number, what="the output"))
            require(count == len(classes), f"{where}, the output has {count} tensors")
            for at in range(count):
                got = seen.dict("there", name, number, at, what="a tensor of the output").get("device")
                require(got == "meta", f"{where}, an output is not there")
    before = own(seen, ["before"], given, "the output on the CPU")
    right(seen, ["after"], before, "the output of the original, after copies of it were moved")
    right(seen, ["apart"], before, "the output of a deep copy, after the original was changed")


def test_all_of_it_learns(run, shared_seed):
    """One step of an optimizer over `parameters()` changes every tensor by its gradient."""
    given, rate = task(shared_seed), 0.01
    leaves = {name: each.double().requires_grad_() for name, each in given["state"].items()}
    loss = sum(each.square().sum() for heads in reference(given, leaves) for each in heads)
    grads = torch.autograd.grad(loss, [*leaves.values()])
    seen = run("step", **given, rate=rate)
    for (name, leaf), grad in zip(leaves.items(), grads, strict=True):
        before = given["state"][name]
        mine = seen.tensor(name, what=name, dtype="float32", shape=tuple(before.shape))
        require(not torch.equal(mine, before), f"a step of the optimizer does not change {name}")
        close(mine, leaf.detach() - rate * grad, f"after a step of the optimizer, {name}", rtol=1e-3, atol=1e-4)


def test_it_saves_and_loads(run, shared_seed):
    """The state_dict has the parameters alone; a new module that loads it, in either way, gives the same outputs."""
    given = task(shared_seed)
    seen = run("checkpoint", **given)
    keys = seen.list("keys")
    require(all(name in keys for name in given["state"]), "the state_dict lacks parameters of the list")
    require(len(keys) == len(given["state"]), "the state_dict has keys that are not in the list")
    for name, how in (("copied", "strict=True"), ("assigned", "assign=True")):
        told = seen.get(name)
        require(not isinstance(told, dict), f"a checkpoint does not load into a new module with {how}")
        saved = own(seen, ["own"], given, "the output of the module that is saved")
        right(seen, [name], saved, f"the output after a load with {how}")


def test_there_and_back(run, shared_seed, device):
    """On the accelerator, back on the CPU, and on the accelerator again, the outputs are there and the same."""
    given = task(shared_seed)
    seen = run("tour", **given)
    home = own(seen, [1], given, "the output on the CPU")
    for stop, place in enumerate((device.torch, "cpu", device.torch)):
        right(seen, [stop], home, f"the output after move number {stop + 1}", place)


def test_forward_moves_nothing(run, shared_seed):
    """Neither on the meta device nor on the tour does a forward pass copy or read anything between devices."""
    given = task(shared_seed)
    for each in run("elsewhere", **given).trace().copies:
        require(each.source == each.target, "forward copies something between devices", line=each.line)


def test_forward_does_not_wait(run, shared_seed, device):
    """On the accelerator, no forward pass of the tour copies between devices or reads a number."""
    seen = run("tour", **task(shared_seed))
    for stop in range(3):
        trace = seen.trace(f"stop {stop}")
        for copy in trace.copies:
            what = f"forward copies {copy.bytes} bytes from {copy.source} to {copy.target}"
            require(copy.source == copy.target, what, line=copy.line)
        for read in trace.reads:
            require(read.device != device.torch, "forward reads a number from the accelerator", line=read.line)
