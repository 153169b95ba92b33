"""Modules and optimizers on the device: what moves, what stays the same object, and that numbers equal the CPU's."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False),
        *(nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 16)),
        *(nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3)),
    )


def test_moving_keeps_parameters_and_replaces_buffers() -> None:
    """Module.to keeps Parameter objects, so an optimizer made before still trains; buffers are new objects."""
    module = net()
    parameters, buffers = [list(map(id, each)) for each in (module.parameters(), module.buffers())]
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    assert module.to("cuda") is module
    assert list(map(id, module.parameters())) == parameters
    assert not set(map(id, module.buffers())) & set(buffers)
    assert all(each.is_cuda and each.is_leaf and type(each) is nn.Parameter for each in module.parameters())
    weight = next(module.parameters())
    before = weight.detach().clone()
    module(torch.randn(2, 1, 6, 6, device="cuda")).sum().backward()
    optimizer.step()
    assert not torch.equal(before, weight)
    module.cpu()
    assert weight.grad is not None
    assert weight.grad.device.type == "cpu"


def test_tied_weights_stay_tied() -> None:
    """A parameter that two modules share is still one parameter on the device."""
    tied = nn.ModuleList([nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)])
    tied[1].weight = tied[0].weight
    tied.cuda()
    assert tied[1].weight is tied[0].weight


def test_moving_by_data_and_by_swapping() -> None:
    """`p.data = p.data.cuda()` moves a parameter in place, and so does swapping; overwriting makes a new one."""
    parameter = nn.Parameter(torch.ones(2))
    parameter.data = parameter.data.cuda()
    assert parameter.is_cuda
    for option, same in (("overwrite", False), ("swap", True)):
        switch = getattr(torch.__future__, f"set_{option}_module_params_on_conversion")
        switch(True)
        try:
            layer = nn.Linear(2, 2)
            weight = layer.weight
            layer.cuda()
            assert layer.weight.is_cuda
            assert (layer.weight is weight) is same
        finally:
            switch(False)


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
    "sgd_one_by_one": lambda p: torch.optim.SGD(p, 0.05, foreach=False),
    "sgd_fused": lambda p: torch.optim.SGD(p, 0.05, fused=True),
    "adam": lambda p: torch.optim.Adam(p, 0.01),
    "adam_one_by_one": lambda p: torch.optim.Adam(p, 0.01, foreach=False),
    "adam_fused": lambda p: torch.optim.Adam(p, 0.01, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, 0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, 0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_the_cpu(name: str) -> None:
    """Four steps with gradient clipping give the CPU's weights, on the foreach path that CUDA takes by default too."""
    torch.manual_seed(1)
    x, y = torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8,))
    results = []
    for device in ("cpu", "cuda"):
        module = net().to(device)
        optimizer = OPTIMIZERS[name](module.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            functional.cross_entropy(module(x.to(device)), y.to(device)).backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
        results.append([parameter.detach().cpu() for parameter in module.parameters()])
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)


def test_capturable_adam() -> None:
    """Adam's capturable variant, which keeps its counters on the device, steps."""
    layer = nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(layer.parameters(), capturable=True)
    layer(torch.rand(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    assert optimizer.state[layer.weight]["step"].is_cuda


LAYERS: list[tuple[str, Callable[[], nn.Module], tuple[int, ...]]] = [
    ("lstm", lambda: nn.LSTM(4, 5, num_layers=2, batch_first=True, bidirectional=True), (3, 6, 4)),
    ("gru", lambda: nn.GRU(4, 5, batch_first=True), (3, 6, 4)),
    ("gru without bias", lambda: nn.GRU(4, 5, bias=False), (3, 6, 4)),
    ("lstm without bias", lambda: nn.LSTM(4, 5, bias=False), (3, 6, 4)),
    ("rnn", lambda: nn.RNN(4, 5), (6, 3, 4)),
    ("encoder layer", lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (2, 5, 8)),
    ("transposed convolution", lambda: nn.ConvTranspose2d(4, 3, 3, stride=2), (2, 4, 5, 5)),
    ("convolution 1d", lambda: nn.Conv1d(4, 6, 3), (2, 4, 9)),
    ("convolution 3d", lambda: nn.Conv3d(2, 3, 2), (1, 2, 4, 4, 4)),
    ("group norm", lambda: nn.GroupNorm(2, 4), (2, 4, 5, 5)),
    ("batch norm", lambda: nn.BatchNorm1d(4), (6, 4)),
    ("rms norm", lambda: nn.RMSNorm(4), (6, 4)),
    ("max pooling", lambda: nn.MaxPool2d(2), (1, 2, 4, 4)),
    ("average pooling", lambda: nn.AdaptiveAvgPool2d(1), (1, 2, 4, 4)),
    ("upsampling", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 4, 4)),
    ("attention", lambda: nn.MultiheadAttention(8, 2, batch_first=True), (2, 5, 8)),
]


@pytest.mark.parametrize(("make", "shape"), [each[1:] for each in LAYERS], ids=[each[0] for each in LAYERS])
def test_layers_equal_the_cpu(make: Callable[[], nn.Module], shape: tuple[int, ...]) -> None:
    """Each layer's result, and the gradients of its input and parameters, equal the CPU's."""
    torch.manual_seed(0)
    on_cpu = make()
    modules = (on_cpu, copy.deepcopy(on_cpu).cuda())
    x = torch.randn(shape)
    inputs = (x.clone().requires_grad_(), x.cuda().requires_grad_())
    outcomes = []
    for module, batch in zip(modules, inputs, strict=True):
        result = module(batch, batch, batch) if isinstance(module, nn.MultiheadAttention) else module(batch)
        result = result[0] if isinstance(result, tuple) else result
        (result * torch.linspace(0, 1, result.numel(), device=result.device).view_as(result)).sum().backward()
        gradients = [each.grad.cpu() for each in (batch, *module.parameters()) if each.grad is not None]
        outcomes.append([result.detach().cpu(), *gradients])
    assert inputs[1].grad is not None
    assert inputs[1].grad.is_cuda
    torch.testing.assert_close(*outcomes, rtol=1e-4, atol=1e-4)


def test_embedding_and_attention() -> None:
    """An embedding's gradient counts repeated indices; attention equals the CPU's, causal or not."""
    table = nn.Embedding(10, 4).cuda()
    table(torch.tensor([[1, 2], [3, 3]]).cuda()).sum().backward()
    assert table.weight.grad is not None
    assert table.weight.grad[3].sum().item() == 8
    given = [torch.randn(1, 2, 5, 4) for _ in range(3)]
    for causal in (False, True):
        q, k, v = given
        expected = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        got = functional.scaled_dot_product_attention(q.cuda(), k.cuda(), v.cuda(), is_causal=causal)
        torch.testing.assert_close(got.cpu(), expected)


def test_dropout_drops() -> None:
    """Dropout in training drops about half and doubles the rest; in evaluation it does nothing."""
    x = torch.ones(1000, device="cuda")
    dropped = functional.dropout(x, 0.5)
    assert 300 < (dropped == 0).sum().item() < 700
    assert dropped.max().item() == 2
    assert torch.equal(functional.dropout(x, 0.5, training=False), x)


def test_packed_sequences() -> None:
    """A packed sequence goes through an LSTM; its lengths stay on the CPU."""
    lstm = nn.LSTM(3, 4, batch_first=True).cuda()
    packed = nn.utils.rnn.pack_padded_sequence(
        torch.rand(2, 5, 3, device="cuda"), torch.tensor([5, 3]), batch_first=True
    )
    out, lengths = nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
    assert out.is_cuda
    assert lengths.tolist() == [5, 3]


def test_data_parallel() -> None:
    """DataParallel splits a batch over two devices, gathers the result and adds the gradients up."""
    layer = nn.Linear(4, 2).cuda()
    x = torch.rand(3, 4, device="cuda")
    out = nn.DataParallel(layer, [0, 1])(x)
    assert str(out.device) == "cuda:0"
    torch.testing.assert_close(out, layer(x))
    out.sum().backward()
    torch.testing.assert_close(layer.weight.grad, x.sum(0).expand(2, 4))


def test_a_model_on_two_devices() -> None:
    """A model split over two devices trains: gradients cross back by themselves."""
    first, second = nn.Linear(4, 8).to("cuda:0"), nn.Linear(8, 2).to("cuda:1")
    reference = nn.Sequential(copy.deepcopy(first), copy.deepcopy(second)).cpu()
    x = torch.randn(5, 4)
    second(first(x.to("cuda:0")).relu().to("cuda:1")).sum().backward()
    reference[1](reference[0](x).relu()).sum().backward()
    for part, expected in ((first, reference[0]), (second, reference[1])):
        assert part.weight.grad is not None
        assert part.weight.grad.device == part.weight.device
        torch.testing.assert_close(part.weight.grad.cpu(), expected.weight.grad)
