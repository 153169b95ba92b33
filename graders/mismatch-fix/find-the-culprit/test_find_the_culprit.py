"""What is demanded of `explain_mismatch`."""

import itertools
import random

import pytest

from proctorch.judge.checks import require


def setting(seed, device):
    """Where the other device is, the sizes of a net, and the block where it happens: never the first or the last."""
    dice = random.Random(seed)
    rows, width = dice.sample(range(4, 9), 2)
    depth = dice.randint(4, 6)
    place = "meta" if device.type == "cpu" else "here"
    return {"place": place, "sizes": [rows, width, depth], "at": dice.randint(1, depth - 2)}


def located(run, case, given):
    """What came of a case, if nothing was raised."""
    seen = run("locate", case=case, **given)
    kind, line = seen.dict(what="what came back").get("raised"), seen.get("line")
    line = line if type(line) is int and 0 < line < 1 << 20 else None
    name = kind[0] if isinstance(kind, list) and kind and type(kind[0]) is str else ""
    require("told" in seen.dict(), f"an error is raised, not explained: {name[:40]} ({case})", line=line)
    return seen


def told(run, case, given, device):
    """A record, with the devices that it should tell of."""
    seen = located(run, case, given)
    require(seen.get("told") is not None, f"None is returned where two devices meet ({case})")
    record = seen.dict("told", what="what is returned")
    require(set(record) == {"module", "tensors", "devices"}, f"a record has the keys {[*map(repr, record)][:5]}")
    other = "meta" if device.type == "cpu" else device.torch
    return seen, sorted(["cpu", other]), other


def module_is(seen, path, case):
    found = seen.text("told", "module", what="the module")
    require(
        found == path, f"the module is told as {found[:60]!r}, where it is another ({case})", detail=f"it is {path}"
    )


def devices_are(seen, expected, case):
    found = [
        seen.text("told", "devices", at, what="a device")
        for at in range(len(seen.list("told", "devices", what="the devices")))
    ]
    require(found == expected, f"the devices are told as {found[:4]} ({case})", detail=f"they are {expected}")


def tensors_are(seen, expected, case, also=()):
    """The tensors that are told are these, with their devices; `also` are others that may be told."""
    found = {}
    for name in seen.dict("told", "tensors", what="the tensors"):
        require(type(name) is str, "the name of a tensor is no text")
        label = seen.text("leads", name)
        shown = repr(name[:60])
        require(label, f"the name {shown} leads to no tensor ({case})")
        require(label in expected or label in also, f"{shown} is told, which is not where they meet ({case})")
        found[label] = seen.text("told", "tensors", name, what="the device of a tensor")
        place = {**expected, **dict.fromkeys(also, found[label])}[label]
        require(found[label] == place, f"{shown} is told to be on {found[label][:20]!r} ({case})")
    for label in expected:
        require(label in found, f"a tensor is not told ({case})", detail=label)


def test_the_module(run, shared_seed, device):
    """The module is the innermost registered one whose forward runs when it happens."""
    given = setting(shared_seed, device)
    block = f"blocks.{given['at']}"
    paths = {
        "argument": "blocks.0.norm",
        "parameter": f"{block}.norm",
        "in a tuple": block,
        "layers": block,
        "method": block,
        "loss": "",
    }
    for case, path in paths.items():
        seen, _, _ = told(run, case, given, device)
        module_is(seen, path, case)


def test_the_devices(run, shared_seed, device):
    """The devices are those that meet, in a model that is split over two as well."""
    given = setting(shared_seed, device)
    for case in ("argument", "split", "alias", "positions", "number from there"):
        seen, devices, _ = told(run, case, given, device)
        devices_are(seen, devices, case)


def test_arguments_are_named(run, shared_seed, device):
    """What was passed is named by its way through args and kwargs."""
    given = setting(shared_seed, device)
    seen, _, other = told(run, "argument", given, device)
    tensors_are(
        seen, {"args.0": "cpu", "blocks.0.norm.weight": other, "blocks.0.norm.bias": other}, "the first argument"
    )
    for case, name in (("in a tuple", "args.1.1"), ("in a keyword", "kwargs.context.steps.1.shift")):
        seen, _, _ = told(run, case, given, device)
        tensors_are(seen, {name: "cpu"}, case)


def test_what_the_model_holds_is_named(run, shared_seed, device):
    """Parameters, and tensors in plain attributes and in modules that nobody registered, are named by their path."""
    given = setting(shared_seed, device)
    block = f"blocks.{given['at']}"
    other = told(run, "parameter", given, device)[2]
    cases = {
        "parameter": {f"{block}.norm.weight": "cpu", f"{block}.norm.bias": other},
        "split": {f"{block}.norm.weight": other, f"{block}.norm.bias": other},
        "alias": {f"{block}._views.0": "cpu"},
        "layers": {f"{block}.layers.extra.0.weight": "cpu", f"{block}.layers.extra.0.bias": "cpu"},
        "loss": {"losses.main.weight": "cpu", "kwargs.labels": other},
    }
    for case, expected in cases.items():
        seen, _, _ = told(run, case, given, device)
        tensors_are(seen, expected, case)


def test_a_view_has_its_name(run, shared_seed, device):
    """A slice or a transpose of a tensor with a name has that name."""
    given = setting(shared_seed, device)
    for case, name in (("slice", "table"), ("transpose", "grid")):
        seen, _, _ = told(run, case, given, device)
        tensors_are(seen, {f"blocks.{given['at']}.{name}": "cpu"}, case)


def test_what_forward_makes(run, shared_seed, device):
    """A tensor that forward makes has no name, and where it meets the others is told, inside of a layer too."""
    given = setting(shared_seed, device)
    for case in ("positions", "kept"):
        seen, _, _ = told(run, case, given, device)
        tensors_are(seen, {}, case)
    seen, _, _ = told(run, "state", given, device)
    rnn = f"blocks.{given['at']}.rnn"
    module_is(seen, rnn, "a state")
    weights = [f"{rnn}.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    tensors_are(seen, {}, "a state", also=weights)


@pytest.mark.parametrize("case", ["healthy", "handed over", "number", "handled"])
def test_none_where_it_runs_to_the_end(run, shared_seed, device, case):
    """On one device, split with a hand-over, with a number on the CPU, or with an error that it handles: None."""
    seen = located(run, case, setting(shared_seed, device))
    require(seen.get("told") is None, f"a record is returned, and the model runs to its end ({case})")


def test_after_a_handled_one(run, shared_seed, device):
    """Where the model has handled one mismatch and fails at another, the second is told."""
    given = setting(shared_seed, device)
    seen, _, _ = told(run, "handled, and another", given, device)
    module_is(seen, f"blocks.{given['at']}", "after one that was handled")
    tensors_are(seen, {}, "after one that was handled")


def test_other_errors_pass(run, shared_seed, device):
    """An error that is not about devices comes out as it is, whatever devices there were and whatever it says."""
    given = setting(shared_seed, device)
    dice = random.Random(shared_seed)
    cases = {
        "shape": "",
        "shape with a number": "",
        "column": "",
        "own": f"no batch number {dice.randint(100, 999)}",
        "own words": f"expected all tensors on the same device: worker {dice.randint(100, 999)} is lost",
        "own after a handled one": f"no batch number {dice.randint(100, 999)}",
        "own from a device error": f"no place for batch {dice.randint(100, 999)}",
    }
    for case, why in cases.items():
        seen = run("attempt", case=case, why=why, **given)
        require(seen.dict("own").get("raised"), "the model itself raises nothing")
        out = seen.dict("out", what="what happened")
        require("raised" in out, f"an error is not passed on ({case})")
        same = [out.get(part) == seen.get("own", part) for part in ("raised", "message")]
        require(all(same), f"another error comes out than the model's own ({case})", detail=str(seen.value)[:400])


@pytest.mark.parametrize("case", ["healthy", "stray on meta", "own", "stopped"])
def test_all_is_as_before(run, shared_seed, device, case):
    """However it ends, model, random generators and torch's modes are as they were."""
    given = setting(shared_seed, device)
    seen = run("untouched", case=case, sizes=given["sizes"], at=given["at"])
    for name in seen.dict(what="what is as before"):
        require(seen.flag(name), f"after a run ({case}), something is not as before: {str(name)[:60]}")


def test_the_model_runs_once(run, shared_seed, device):
    """The model is run once, and sees the modes that the caller has set."""
    given = setting(shared_seed, device)
    for case in ("healthy", "stray on meta"):
        for training, grad in itertools.product((True, False), repeat=2):
            seen = run("runs", case=case, sizes=given["sizes"], at=given["at"], training=training, grad=grad)
            count = len(seen.list("runs", what="the runs of the model"))
            require(count == 1, f"the model is run {count} times ({case})")
            same = seen.get("runs", 0) == seen.get("given")
            require(same, "the model is run in other modes than those that it was given in")


def test_on_the_accelerator(run, shared_seed, device):
    """What the meta device lets pass is told on an accelerator: lookups, indices, convolutions."""
    given = setting(shared_seed, device)
    block = f"blocks.{given['at']}"
    cases = {
        "lookup": (block, {f"{block}.ids": "cpu", f"{block}.vectors": device.torch}),
        "index": (block, {f"{block}.ids": device.torch, f"{block}.table": "cpu"}),
        "convolution": (f"{block}.conv", {f"{block}.conv.weight": "cpu", f"{block}.conv.bias": "cpu"}),
    }
    for case, (path, expected) in cases.items():
        seen, _, _ = told(run, case, given, device)
        module_is(seen, path, case)
        tensors_are(seen, expected, case)
    seen, _, other = told(run, "three", given, device)
    devices_are(seen, sorted(["cpu", "meta", str(other)]), "three devices")
