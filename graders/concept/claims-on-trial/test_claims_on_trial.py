"""What is demanded of the experiments: to say what ours say, in torch as it is and in an altered one.

Ours run in this process, which no submission reaches, on the meta device and on the CPU. The claims hold of an
accelerator as they hold of one of these.
"""

import random
import runpy
from pathlib import Path

import torch
from torch import nn

from proctorch.judge.checks import require

trials = runpy.run_path(str(Path(__file__).with_name("scenarios.py")))["trials"]
CPU, META = "cpu", "meta"


def tells(run, seed, device, claim, ours, *, places=(META,), like=META):
    """Each answer is that of `ours`: at the places, and on an accelerator what `ours` says of the place `like` it.

    And the experiments change nothing that lasts.
    """
    accelerator = () if device.type == CPU else ((device.torch, like),)
    pairs = [*((place, place) for place in places), *accelerator]
    plan = [(place, stand_in, altered) for place, stand_in in pairs for altered in (True, False, True, False)]
    random.Random(seed).shuffle(plan)
    expected = trials(ours, claim, [[stand_in, altered] for _, stand_in, altered in plan])
    seen = run("try_out", claim=claim, plan=[[place, altered] for place, _, altered in plan])
    for at, (place, _, altered) in enumerate(plan):
        said = seen.flag("said", at, what=f"what {claim} returns")
        where = f"{'in the altered torch' if altered else 'in torch as it is'}, on {place}"
        require(said == expected[at], f"{where}, {claim} returns {said}, and that is not what happens there")
    changed = [str(each) for each in seen.list("changed")]
    require(not changed, f"{claim} changes {changed[0] if changed else ''}, and that lasts")


def works(call, error):
    """Whether a call returns."""
    try:
        call()
    except error:
        return False
    return True


def test_a_tensor_that_is_moved(run, seed, device):
    """Whether `to` changes the tensor is found out."""

    def ours(place):
        x = torch.ones(2)
        x.to(place)
        return x.device == place

    tells(run, seed, device, "tensor_moves", ours)


def test_a_module_that_is_moved(run, seed, device):
    """Whether `to` changes the module is found out."""

    def ours(place):
        module = nn.Linear(2, 2)
        module.to(place)
        return module.weight.device == place

    tells(run, seed, device, "module_moves", ours)


def test_an_attribute(run, seed, device):
    """Whether a plain attribute is moved with its module is found out."""

    def ours(place):
        module = nn.Linear(2, 2)
        module.scale = torch.ones(2)
        module.to(place)
        return module.scale.device == place

    tells(run, seed, device, "attribute_moves", ours)


def test_two_devices(run, seed, device):
    """Whether two devices mix is found out."""
    tells(
        run,
        seed,
        device,
        "devices_mix",
        lambda place: works(lambda: torch.ones(2) + torch.ones(2, device=place), RuntimeError),
    )


def test_a_number(run, seed, device):
    """Whether a tensor without dimensions mixes is found out."""
    tells(
        run,
        seed,
        device,
        "number_mixes",
        lambda place: works(lambda: torch.tensor(1.0) + torch.ones(2, device=place), RuntimeError),
    )


def test_eval(run, seed, device):
    """Whether `eval` drops the graph is found out."""

    def ours(place):
        module = nn.Linear(2, 2, device=place).eval()
        return not module(torch.ones(1, 2, device=place)).requires_grad

    tells(run, seed, device, "eval_drops_graph", ours, places=(CPU, META))


def test_numpy(run, seed, device):
    """Whether `numpy` copies home is found out."""
    tells(run, seed, device, "numpy_copies_home", lambda place: works(torch.ones(2, device=place).numpy, TypeError))


def test_nothing_to_move(run, seed, device):
    """Where `to` returns the tensor itself is found out."""

    def ours(place):
        x = torch.ones(2)
        return x.to(place) is x

    tells(run, seed, device, "same_is_returned", ours, places=(CPU, META))


def test_a_leaf(run, seed, device):
    """Where a leaf's copy is a leaf is found out."""
    tells(
        run,
        seed,
        device,
        "leaf_stays_leaf",
        lambda place: torch.ones(2, requires_grad=True).to(place).is_leaf,
        places=(CPU, META),
    )


def test_the_optimizer(run, seed, device):
    """Whether an optimizer has the parameters of a module that is moved later is found out."""

    def ours(place):
        module = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        module.to(place)
        return optimizer.param_groups[0]["params"][0] is module.weight

    tells(run, seed, device, "optimizer_follows", ours, places=(CPU, META), like=CPU)
