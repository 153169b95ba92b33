"""Saving, loading, copying: tensors of the device come back where they are wanted."""

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from proctorch import virtual


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    module = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.rand(1, 3, device="cuda")).sum().backward()
    optimizer.step()
    torch.save({"module": module.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "saved.pt")
    return tmp_path / "saved.pt"


@pytest.mark.parametrize(
    ("where", "device"),
    [
        (None, "cuda:0"),
        ("cpu", "cpu"),
        ("cuda", "cuda:0"),
        ("cuda:1", "cuda:1"),
        (torch.device("cuda", 1), "cuda:1"),
        ({"cuda:0": "cpu"}, "cpu"),
        ({"cuda:0": "cuda:1"}, "cuda:1"),
        (lambda storage, _: storage, "cpu"),
        (lambda storage, _: storage.cuda(1), "cuda:1"),
    ],
)
def test_map_location(checkpoint: Path, where: Any, device: str) -> None:
    """torch.load puts tensors where map_location says, by default where they were."""
    loaded = torch.load(checkpoint, map_location=where, weights_only=True)
    assert {str(each.device) for each in loaded["module"].values()} == {device}


def test_without_a_device(checkpoint: Path) -> None:
    """Without a device a checkpoint of one is refused, in torch's words, unless mapped to the CPU."""
    virtual.disable()
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda.is_available"):
        torch.load(checkpoint)
    assert torch.load(checkpoint, map_location="cpu")["module"]["weight"].device.type == "cpu"


def test_state_dicts_go_where_the_module_is(checkpoint: Path) -> None:
    """load_state_dict copies into the parameters' device, and an optimizer's state follows its parameters."""
    loaded = torch.load(checkpoint, map_location="cpu", weights_only=True)
    module = nn.Linear(3, 2).to("cuda:1")
    module.load_state_dict(loaded["module"])
    assert str(module.weight.device) == "cuda:1"
    assert torch.equal(module.weight.detach().cpu(), loaded["module"]["weight"])
    optimizer = torch.optim.Adam(module.parameters())
    optimizer.load_state_dict(loaded["optimizer"])
    assert {str(state["exp_avg"].device) for state in optimizer.state.values()} == {"cuda:1"}


def test_whole_modules_and_pickles(tmp_path: Path) -> None:
    """A module saved whole, and a pickled tensor, come back on the device, equal."""
    module = nn.Linear(3, 2).to("cuda:1")
    torch.save(module, tmp_path / "module.pt")
    assert str(torch.load(tmp_path / "module.pt", weights_only=False).weight.device) == "cuda:1"
    x = torch.arange(4.0, device="cuda:1")[1:]
    again = pickle.loads(pickle.dumps(x))
    assert (str(again.device), again.tolist()) == ("cuda:1", [1, 2, 3])


def test_deep_copies() -> None:
    """A deep copy is on the same device, equal, and shares no memory."""
    module = nn.Linear(3, 2).to("cuda:1")
    other = copy.deepcopy(module)
    assert str(other.weight.device) == "cuda:1"
    assert torch.equal(other.weight, module.weight)
    assert other.weight.data_ptr() != module.weight.data_ptr()


def test_storages() -> None:
    """Untyped storages move, copy and clone."""
    storage = torch.arange(4, dtype=torch.uint8).untyped_storage()
    there = storage.cuda(1)
    assert str(there.device) == "cuda:1"
    assert there.tolist() == [0, 1, 2, 3]
    assert there.clone().device == there.device
    assert there.to(device="cuda:0").cpu().tolist() == [0, 1, 2, 3]
    assert storage.clone().device.type == "cpu"
    assert there.copy_(torch.full((4,), 7, dtype=torch.uint8).untyped_storage()).tolist() == [7, 7, 7, 7]
