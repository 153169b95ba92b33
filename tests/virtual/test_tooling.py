"""What looks at a running program: NVTX, the profiler, the runtime, snapshots; and waiting that nobody asked for."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from proctorch import virtual


def test_nvtx() -> None:
    """Code with NVTX ranges and marks runs, and ranges nest."""
    nvtx: Any = torch.cuda.nvtx
    nvtx.range_push("outer")
    depth = nvtx.range_push("inner")
    nvtx.mark("here")
    assert nvtx.range_pop() == depth
    with nvtx.range("step"):
        pass
    assert nvtx.range_pop() == depth - 1


def test_the_runtime() -> None:
    """The runtime's few functions that torch binds answer with success."""
    runtime: Any = torch.cuda.cudart()
    torch.cuda.check_error(runtime.cudaProfilerStart())
    torch.cuda.check_error(runtime.cudaProfilerStop())
    assert runtime.cudaMemGetInfo(0) == torch.cuda.mem_get_info(0)


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")  # torch 2.12 always says so
def test_the_profiler(capfd: pytest.CaptureFixture[str]) -> None:
    """The profiler runs with CUDA among its activities, and prints no complaint."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    x = torch.ones(3, device="cuda")
    with torch.profiler.profile(activities=activities) as profile:
        x + x
    assert "aten::add" in {event.key for event in profile.key_averages()}
    if torch.version.cuda is None:  # a build with CUDA says that it finds no driver
        assert "CUDA event" not in capfd.readouterr().err


def test_a_snapshot_of_the_memory() -> None:
    """A memory snapshot lists the live blocks of each device, and asking for a history changes nothing."""
    size = 3 << 20
    torch.cuda.memory._record_memory_history(max_entries=10)
    x = torch.empty(size, dtype=torch.uint8, device="cuda:1")
    (segment,) = (each for each in torch.cuda.memory_snapshot() if each["total_size"] == size)
    assert (segment["device"], segment["segment_type"]) == (1, "large")
    assert segment["blocks"][0]["state"] == "active_allocated"
    del x
    snapshot = torch.cuda.memory._snapshot()
    assert size not in {each["total_size"] for each in snapshot["segments"]}
    assert snapshot["device_traces"] == [[], []]
    torch.cuda.memory._record_memory_history(enabled=None)


WAITING: dict[str, Callable[[torch.Tensor], object]] = {
    "item": lambda x: x[0].item(),
    "a condition": lambda x: bool(x[0] > 0),
    "a download": lambda x: x.cpu(),
    "an upload": lambda _: torch.ones(2).to("cuda"),
    "nonzero": lambda x: x.nonzero(),
    "a mask as an index": lambda x: x[x > 0],
    "assignment by a mask": lambda x: x.__setitem__(x > 0, 1.0),
    "an index on the CPU": lambda x: x[torch.tensor([0])],
    "bincount": lambda x: torch.bincount(x.long()),
    "repeat_interleave": lambda x: x.repeat_interleave(x.long()),
    "a stream": lambda _: torch.cuda.current_stream().synchronize(),
}
NOT_WAITING: dict[str, Callable[[torch.Tensor], object]] = {
    "arithmetic": lambda x: x * 2 + x.sum(),
    "an index on the device": lambda x: x[x.long() - 1],
    "masked_fill": lambda x: x.masked_fill(x > 0, 2.0),
    "repeat_interleave of a known size": lambda x: x.repeat_interleave(x.long(), output_size=2),
    "a non-blocking upload": lambda _: torch.ones(2).pin_memory().to("cuda", non_blocking=True),
    "a non-blocking download": lambda x: x.to("cpu", non_blocking=True),
    "the whole device": lambda _: torch.cuda.synchronize(),
    "a copy within the device": lambda x: x.clone(),
}


@pytest.mark.parametrize("what", WAITING)
def test_waiting_is_reported(what: str) -> None:
    """With torch.cuda.set_sync_debug_mode, waiting for the device by the way warns or is refused."""
    x = torch.ones(2, device="cuda")
    torch.cuda.set_sync_debug_mode("warn")
    with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
        WAITING[what](x)
    torch.cuda.set_sync_debug_mode("error")
    assert torch.cuda.get_sync_debug_mode() == 2
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        WAITING[what](x)
    torch.cuda.set_sync_debug_mode("default")
    WAITING[what](x)


@pytest.mark.parametrize("what", NOT_WAITING)
def test_not_waiting_is_not_reported(what: str) -> None:
    """What does not make the host wait, or says that it does, passes in the strictest mode."""
    x = torch.ones(2, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    NOT_WAITING[what](x)


@pytest.mark.off
def test_the_mode_is_forgotten() -> None:
    """A device that is turned on again does not complain of waiting."""
    with virtual.cuda():
        torch.cuda.set_sync_debug_mode("error")
    with virtual.cuda():
        assert torch.cuda.get_sync_debug_mode() == 0
        assert torch.ones(1, device="cuda").item() == 1


@pytest.mark.filterwarnings("ignore:The torch.cuda..DtypeTensor constructors")
def test_legacy_tensor_types() -> None:
    """`torch.cuda.FloatTensor` makes tensors from sizes and values, converts, and knows its instances."""
    cuda: Any = torch.cuda
    assert cuda.FloatTensor([1, 2]).tolist() == [1, 2]
    made = cuda.LongTensor(2, 3)
    assert (made.shape, made.dtype, made.device) == ((2, 3), torch.int64, torch.device("cuda:0"))
    half: Any = torch.ones(2).type(cuda.HalfTensor)
    assert (half.dtype, half.is_cuda) == (torch.float16, True)
    assert isinstance(half, cuda.HalfTensor)
    assert not isinstance(torch.ones(2).half(), cuda.HalfTensor)
    with pytest.raises(TypeError, match=r"expected .* \(got "):
        cuda.FloatTensor(torch.ones(2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.cuda.Stream(device=8),
        lambda: torch.cuda.current_stream(8),
        lambda: torch.cuda.default_stream(8),
        lambda: torch.cuda.Stream(torch.device("cuda:2")),
    ],
)
def test_streams_of_devices_that_do_not_exist(make: Callable[[], object]) -> None:
    """A stream of a device that does not exist is CUDA's error."""
    with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"):
        make()


def test_an_encoder_with_padding() -> None:
    """`nn.TransformerEncoder` without gradients takes a padding mask, and what is no padding is as with gradients."""
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).cuda().eval()
    x = torch.randn(2, 3, 8, device="cuda")
    mask = torch.tensor([[False, False, True], [False, False, False]], device="cuda")
    with torch.no_grad():
        quick = encoder(x, src_key_padding_mask=mask)
    torch.testing.assert_close(quick[~mask], encoder(x, src_key_padding_mask=mask)[~mask])
