"""What plain code sees: a CUDA device and tensors on it."""

import numpy as np
import pytest
import torch
from torch import nn

from proctorch import virtual

GIB = 1 << 30


def test_tensors_on_it_are_plain_tensors() -> None:
    """A tensor on the device is a torch.Tensor and nothing else, with CUDA's device and type."""
    x = torch.ones(2, 3, device="cuda")
    assert type(x) is torch.Tensor
    assert x.is_cuda
    assert x.device == torch.device("cuda:0")
    assert x.get_device() == 0
    assert x.type() == "torch.cuda.FloatTensor"
    assert isinstance(x, torch.cuda.FloatTensor)  # type: ignore[attr-defined]  # made at import time


def test_ways_onto_the_device() -> None:
    """Each usual way of making a tensor on the device makes one there, and moving one that is there does nothing."""
    x = torch.ones(2).cuda()
    made = [
        *(torch.ones(2).to("cuda"), torch.ones(2).to(torch.device("cuda")), torch.ones(2).to(0), torch.ones(2).to(x)),
        *(torch.tensor([1, 2], device="cuda"), torch.as_tensor(np.arange(3), device="cuda")),
        *(torch.zeros_like(x), x.new_zeros(3), torch.arange(3, device="cuda"), torch.eye(2, device="cuda")),
        *(torch.linspace(0, 1, 3, device="cuda"), torch.full((2,), 7, device="cuda"), torch.rand(2, device="cuda")),
        torch.randperm(4, device="cuda"),
    ]
    assert [str(each.device) for each in made] == ["cuda:0"] * 14
    assert x.to("cuda") is x
    assert x.cuda() is x
    assert torch.tensor([1, 2], device="cuda").tolist() == [1, 2]


def test_printing_names_the_device() -> None:
    """A printed tensor ends with its device, as on CUDA."""
    x = torch.tensor([1.0, 2.0], device="cuda")
    assert repr(x) == "tensor([1., 2.], device='cuda:0')"
    assert repr(torch.ones((), device="cuda:1")) == "tensor(1., device='cuda:1')"
    assert "device='cuda:0', requires_grad=True)" in repr(torch.randn(2000, device="cuda", requires_grad=True))
    assert repr(nn.Parameter(x)).startswith("Parameter containing:\ntensor([1., 2.], device='cuda:0'")


def test_numpy_refuses() -> None:
    """NumPy cannot have a tensor of the device, with torch's words for it."""
    x = torch.ones(2, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        x.numpy()
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        np.asarray(x)
    assert x.cpu().numpy().tolist() == [1, 1]


def test_torch_cuda() -> None:
    """torch.cuda describes the device, whose name says that it is virtual."""
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 2
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name() == "Virtual CUDA Device"
    assert torch.cuda.get_device_properties(1).total_memory == 2 * GIB
    assert torch.cuda.get_device_capability() == (8, 0)
    assert torch.cuda.is_bf16_supported()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    assert torch.cuda.can_device_access_peer(0, 1)


def test_it_is_initialised_at_first_use() -> None:
    """torch.cuda is initialised by the first tensor, not by asking whether there is a device."""
    assert torch.cuda.is_available()
    assert not torch.cuda.is_initialized()
    torch.ones(1, device="cuda")
    assert torch.cuda.is_initialized()


def test_torch_accelerator() -> None:
    """torch.accelerator sees the same devices."""
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == 2
    torch.accelerator.set_device_index(1)
    assert torch.accelerator.current_device_index() == 1
    x = torch.ones(256, device="cuda")
    assert str(x.device) == "cuda:1"
    assert torch.accelerator.memory_allocated() == 1024
    assert torch.accelerator.max_memory_allocated(0) == 0
    torch.accelerator.synchronize()
    torch.accelerator.empty_cache()
    with torch.accelerator.device_index(0):
        assert torch.accelerator.current_device_index() == 0
    assert torch.accelerator.get_memory_info(1)[1] == 2 * GIB


def test_current_device() -> None:
    """`cuda` without an index is the current device of the thread, which set_device and contexts change."""
    torch.cuda.set_device(1)
    assert str(torch.ones(1, device="cuda").device) == "cuda:1"
    assert str(torch.ones(1).cuda().device) == "cuda:1"
    with torch.cuda.device(0):
        assert str(torch.ones(1).to("cuda").device) == "cuda:0"
    assert torch.cuda.current_device() == 1
    with torch.cuda.device_of(torch.ones(1, device="cuda:0")):
        assert torch.cuda.current_device() == 0


def test_making_a_device_current_initialises() -> None:
    """Whoever makes a device current, in whatever way, has initialised CUDA, as on a real one."""
    for make_current in (
        torch.cuda.set_device,
        torch.accelerator.set_device_index,
        lambda at: torch.cuda.device(at).__enter__(),
    ):
        virtual.disable()
        virtual.enable(devices=2)
        assert not torch.cuda.is_initialized()
        make_current(1)
        assert torch.cuda.is_initialized()
        assert torch.cuda.current_device() == 1


def test_device_contexts_of_torch() -> None:
    """`with torch.device` and set_default_device put factories on the device."""
    with torch.device("cuda:1"):
        assert str(torch.zeros(1).device) == "cuda:1"
        assert str(nn.Linear(2, 2).weight.device) == "cuda:1"
        assert (torch.zeros(2) + torch.ones(2)).tolist() == [1, 1]
    torch.set_default_device("cuda")
    try:
        assert torch.tensor([1.0]).is_cuda
        assert nn.Linear(2, 2)(torch.rand(1, 2)).is_cuda
    finally:
        torch.set_default_device(None)
    assert torch.zeros(1).device.type == "cpu"


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.zeros(2, device="cuda:2"),
        lambda: torch.zeros(2).to("cuda:7"),
        lambda: torch.zeros(2).cuda(3),
        lambda: torch.zeros(2, device="cuda").to("cuda:2"),
        lambda: nn.Linear(2, 2).to("cuda:2"),
        lambda: torch.cuda.set_device(2),
    ],
)
def test_index_that_does_not_exist(use: object) -> None:
    """A device index that does not exist is CUDA's error, wherever it is used."""
    assert callable(use)
    with pytest.raises(torch.AcceleratorError, match="CUDA error: invalid device ordinal"):
        use()
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(2)


def test_views_share_memory() -> None:
    """A view of a device tensor shares its storage, and writing through one is seen through the other."""
    x = torch.zeros(4, 4, device="cuda")
    flat = x.view(16)
    assert flat.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    x[0] = 1
    assert flat[:4].sum().item() == 4
    x[:, 1].mul_(3).add_(1)
    assert flat[1].item() == 4
    x.t()[3, 0] = 9
    assert x[0, 3].item() == 9
    assert x.t_().stride() == (1, 4)
    assert x.unsqueeze_(0).shape == (1, 4, 4)


def test_results_are_resized() -> None:
    """`out=` and resize_ change size and memory as they do elsewhere."""
    x = torch.ones(2, 2, device="cuda")
    out = torch.empty(0, device="cuda")
    torch.add(x, x, out=out)
    assert out.tolist() == [[2, 2], [2, 2]]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.add(x, x, out=(other := torch.empty(3, device="cuda")))
    assert other.shape == (2, 2)
    y = torch.tensor([1.0, 2.0], device="cuda").resize_(3)
    assert y.shape == (3,)
    assert y[:2].tolist() == [1, 2]
    assert y.resize_(1).tolist() == [1]
    channels_last = torch.randn(2, 3, 4, 4, device="cuda").to(memory_format=torch.channels_last)
    assert channels_last.is_contiguous(memory_format=torch.channels_last)


def test_scalars_promote_as_numbers() -> None:
    """A Python number does not change the dtype of a tensor of its category, and changes a lower one to the default."""
    half, whole, yes = (torch.ones(2, dtype=each, device="cuda") for each in (torch.float16, torch.int32, torch.bool))
    assert (half * 0.1).dtype == torch.float16
    assert (half * 0.1).tolist() == (torch.ones(2, dtype=torch.float16) * 0.1).tolist()
    assert (half[0] * 0.1).dtype == torch.float16
    assert (whole + 1).dtype == torch.int32
    assert (whole * 0.5).dtype == torch.float32
    assert (yes + 1).dtype == torch.int64
    assert (whole * 1j).dtype == torch.complex64
    assert (torch.ones(1, dtype=torch.float64, device="cuda") / 3).item() == 1 / 3
    assert str((torch.ones(1, device="cuda") * -0.0).item()) == "-0.0"
    assert str((torch.ones(1, device="cuda") * 0.0).item()) == "0.0"


def test_no_trace_when_off() -> None:
    """When the device is off, torch is as before: no device, and CUDA's own error for using one."""
    virtual.disable()
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
    assert not torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator(check_available=True) is None
    with pytest.raises((AssertionError, RuntimeError), match=r"Torch not compiled with CUDA enabled|no NVIDIA driver"):
        torch.zeros(1).cuda()
    assert torch.Generator is torch._C.Generator
    x = torch.randn(3, requires_grad=True)
    x.sum().backward()
    assert not torch.zeros(1).is_pinned()
