"""Autograd on the device."""

import contextlib

import pytest
import torch
from torch import nn
from torch.func import grad, vmap
from torch.utils.checkpoint import checkpoint


def test_through_copies() -> None:
    """A gradient crosses between host and devices with the values."""
    x = torch.ones(3, requires_grad=True)
    (x.to("cuda:0") * 2).to("cuda:1").cpu().mul(3).sum().backward()
    assert x.grad is not None
    assert x.grad.device.type == "cpu"
    assert x.grad.tolist() == [6, 6, 6]


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream")  # torch 2.12's own, as on two real devices
def test_gradients_from_two_devices_add_up() -> None:
    """A leaf used on both devices gets the sum of what comes back."""
    x = torch.ones(2, device="cuda:0", requires_grad=True)
    ((x * 2).sum().to("cuda:1") + (x.to("cuda:1") * 3).sum()).backward()
    assert x.grad is not None
    assert str(x.grad.device) == "cuda:0"
    assert x.grad.tolist() == [5, 5]


def test_double_backward() -> None:
    """The gradient of a gradient is right."""
    x = torch.tensor([2.0, 3.0], device="cuda", requires_grad=True)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [12, 27]
    assert second.tolist() == [12, 18]


def test_in_place_errors() -> None:
    """Changing a leaf in place, or a saved value, is refused as everywhere."""
    leaf = torch.randn(3, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf.add_(1)
    saved = leaf.exp()
    saved.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_in_place_on_views() -> None:
    """An in-place change of a view changes the gradient of its base."""
    x = torch.ones(2, 2, device="cuda", requires_grad=True)
    y = x * 1
    y[0].mul_(5)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[5, 5], [1, 1]]


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing(reentrant: bool) -> None:
    """Recomputed activations give the same gradients, and dropout repeats its choice."""
    layer = nn.Linear(4, 4)
    module = nn.Sequential(layer, nn.Dropout(0.5)).cuda()
    x = torch.rand(2, 4, device="cuda", requires_grad=True)
    out = checkpoint(module, x, use_reentrant=reentrant)
    out.sum().backward()
    assert x.grad is not None
    kept = (out != 0).float()
    torch.testing.assert_close(x.grad, 2 * kept @ layer.weight.detach())


def test_own_functions() -> None:
    """A torch.autograd.Function saves tensors of the device, and gradcheck agrees."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)  # type: ignore[attr-defined]
            return x * x

        @staticmethod
        def backward(ctx: object, out: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors  # type: ignore[attr-defined]
            return 2 * x * out  # type: ignore[no-any-return]

    x = torch.rand(3, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(Square.apply, (x,))


def test_transforms_hooks_and_modes() -> None:
    """torch.func, hooks, no_grad, inference mode and saved-tensor hooks work on the device."""
    x = torch.rand(3, 2, device="cuda")
    assert grad(lambda t: (t**2).sum())(x).is_cuda
    assert vmap(lambda t: t * 2)(x).is_cuda
    seen = []
    leaf = x.clone().requires_grad_()
    leaf.register_hook(lambda gradient: seen.append(str(gradient.device)))
    with torch.autograd.graph.save_on_cpu():
        y = leaf.exp()
    y.sum().backward()
    assert seen == ["cuda:0"]
    with torch.no_grad():
        assert not (leaf * 2).requires_grad
    with torch.inference_mode():
        assert (leaf * 2).is_inference()


def test_an_error_in_backward_ends_nothing() -> None:
    """An exception in a backward pass comes out of backward(), and the next pass works."""

    def fail(_: torch.Tensor) -> None:
        raise ValueError("on purpose")

    x = torch.rand(3, device="cuda", requires_grad=True)
    y = x.exp()
    y.register_hook(fail)
    with pytest.raises(ValueError, match="on purpose"):
        y.sum().backward()
    x.exp().sum().backward()
    assert x.grad is not None


def test_running_out_in_backward() -> None:
    """Running out of memory in a backward pass raises OutOfMemoryError there."""
    w = torch.randn(4096, 4096, device="cuda", requires_grad=True)
    y = w.exp()
    held = torch.empty((2 << 30) - torch.cuda.memory_allocated() - (4 << 20), dtype=torch.uint8, device="cuda")
    with pytest.raises(torch.OutOfMemoryError):
        y.sum().backward()
    del held
    y = w.exp()
    with contextlib.suppress(RuntimeError):
        y.sum().backward()
    assert w.grad is not None
