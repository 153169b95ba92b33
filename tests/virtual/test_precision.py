"""Mixed precision on the device: CUDA's autocast lists, not the CPU's, and GradScaler."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

from proctorch.virtual import autocast


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("expression", autocast.TABLE)
def test_lists(expression: str, dtype: torch.dtype) -> None:
    """Each operation of CUDA's lists gives the dtype that it gives on CUDA."""
    assert autocast.outcome(expression, "cuda:0", dtype) == autocast.TABLE[expression]


def test_binary_cross_entropy_is_refused() -> None:
    """On CUDA autocast refuses binary cross entropy of probabilities, and says what to use."""
    x = torch.rand(3, device="cuda")
    with torch.autocast("cuda"), pytest.raises(RuntimeError, match="are unsafe to autocast"):
        functional.binary_cross_entropy(x, x)


def test_the_cpus_autocast_leaves_it_alone() -> None:
    """autocast("cpu") changes nothing on the device, not even inside its kernels."""
    x = torch.rand(4, 1, 6, 6, device="cuda")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (x.flatten(1) @ x.flatten(1).t()).dtype == torch.float32
        assert nn.Conv2d(1, 2, 3).cuda()(x).dtype == torch.float32
        assert nn.Linear(6, 2).cuda()(x).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_training_step(dtype: torch.dtype) -> None:
    """Under autocast a convolution's result is low, the loss and all gradients are single precision."""
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)).cuda()
    with torch.autocast("cuda", dtype=dtype):
        assert torch.is_autocast_enabled("cuda")
        assert torch.get_autocast_dtype("cuda") == dtype
        out = module(torch.rand(2, 1, 6, 6, device="cuda"))
        loss = functional.cross_entropy(out, torch.zeros(2, dtype=torch.long, device="cuda"))
    assert (out.dtype, loss.dtype) == (dtype, torch.float32)
    loss.backward()
    gradients = [each.grad for each in module.parameters() if each.grad is not None]
    assert [each.dtype for each in gradients if each.is_cuda] == [torch.float32] * 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", [torch.softmax, torch.log_softmax])
def test_the_gradient_of_softmax_comes_back_in_half(function: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
    """Under autocast softmax makes float32 of a half-precision tensor, whose gradient is half, and right."""
    scores = torch.tensor([[0.0, 1.0, 3.0]], device="cuda", dtype=dtype, requires_grad=True)
    with torch.autocast("cuda", dtype=dtype):
        weights = function(scores, -1)
    assert weights.dtype == torch.float32
    weights[0, 2].backward()
    exact = scores.detach().double().requires_grad_()
    function(exact, -1)[0, 2].backward()
    assert scores.grad is not None
    assert exact.grad is not None
    assert scores.grad.dtype == dtype
    torch.testing.assert_close(scores.grad, exact.grad.to(dtype))


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("old", [False, True])
def test_grad_scaler(old: bool) -> None:
    """GradScaler grows after good steps; a step with infinite gradients is skipped and halves the scale."""
    layer = nn.Linear(6, 3).cuda()
    x, y = torch.rand(4, 6, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")
    optimizer = torch.optim.Adam(layer.parameters(), 1e-3)
    make = torch.cuda.amp.GradScaler if old else torch.amp.GradScaler
    scaler = make(init_scale=1024.0, growth_interval=2)
    assert scaler.is_enabled()
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = functional.cross_entropy(layer(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 2048.0
    before = layer.weight.detach().clone()
    optimizer.zero_grad()
    (scaler.scale(functional.cross_entropy(layer(x), y)) * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 1024.0
    assert torch.equal(before, layer.weight)


def test_half_precision_is_real() -> None:
    """Half precision overflows and underflows as it does on a device."""
    x = torch.full((4,), 60000.0, device="cuda").half()
    assert torch.isinf(x + x).all()
    assert torch.tensor(1e-8, device="cuda").half().item() == 0.0
    assert functional.softmax(x, -1, dtype=torch.float32).dtype == torch.float32
