"""The same-device rule, operation by operation."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from proctorch.virtual import same_device


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("expression", same_device.TABLE)
def test_table(expression: str) -> None:
    """Each expression of the table does what it does on CUDA."""
    assert same_device.outcome(expression, "cuda:0") == same_device.TABLE[expression]


def test_the_table_is_long_enough_to_be_compared() -> None:
    """The table has at least sixty rows, and of each kind."""
    assert len(same_device.TABLE) >= 60
    assert {"raises", "cpu", "device"} <= set(same_device.TABLE.values())


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("d + c", "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"),
        ("c + d", "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"),
        (
            "c0.add_(d0)",
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        ),
        (
            "d.logical_xor(c)",
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        ),
        (
            "d @ c",
            "different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_mm)",
        ),
        ("c[di]", "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
        (
            "functional.conv1d(c[None], d[None])",
            "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same",
        ),
        (
            "d.masked_fill(cm, 0.0)",
            "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
        ),
        ("torch.addcmul(d, c0, c0)", "Trying to pass too many CPU scalars to non-CPU kernel!"),
        ("torch.randn(2, device='cuda', generator=torch.Generator())", "Expected a 'cuda' device type for generator"),
        (
            "torch.randn(2, generator=torch.Generator('cuda'))",
            "Expected a 'cpu' device type for generator but found 'cuda'",
        ),
    ],
)
def test_wording(expression: str, message: str) -> None:
    """The errors have torch's words."""
    with pytest.raises(RuntimeError) as caught:
        eval(expression, same_device.names("cuda:0"))
    assert message in str(caught.value)


def test_between_two_devices() -> None:
    """The rule holds between two devices, for zero-dimensional tensors as well, and copies cross."""
    here, there = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
    for mix in (lambda: here + there, lambda: here @ there, lambda: torch.cat([here, there]), lambda: here + there[0]):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            mix()
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        here[torch.tensor([0], device="cuda:1")]
    assert (here + there.to(here.device)).tolist() == [2, 2]
    here.copy_(there * 5)
    assert here.tolist() == [5, 5]


def test_a_constant_left_behind() -> None:
    """A tensor that is no buffer stays on the CPU when its module moves, and meets the others in forward."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.scale = torch.ones(4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x) * self.scale  # type: ignore[no-any-return]  # modules are untyped

    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        Scaled().to("cuda")(torch.randn(2, 4, device="cuda"))


def test_shapes_are_compared_first() -> None:
    """Where both shapes and devices differ, TensorIterator speaks of the shapes."""
    with pytest.raises(RuntimeError, match="The size of tensor a \\(3\\) must match the size of tensor b \\(4\\)"):
        torch.ones(3, device="cuda") + torch.ones(4)


def test_attention_says_which() -> None:
    """Attention names the devices of query, key and value."""
    a, b = torch.randn(1, 3, 3, device="cuda"), torch.randn(1, 3, 3)
    with pytest.raises(
        RuntimeError, match=r"have the same device type, but got query\.device: cuda:0 key\.device: cpu"
    ):
        functional.scaled_dot_product_attention(a, b, a)


def test_refusing_changes_nothing() -> None:
    """An in-place operation that is refused leaves its tensor as it was."""
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="found at least two devices"):
        x += torch.ones(2, device="cuda")
    assert x.tolist() == [1, 1]
