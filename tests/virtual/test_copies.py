"""Copies between devices: the log, pinned memory, streams and events, and downloads that arrive late."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from proctorch import virtual


def crossings() -> list[tuple[str, int, bool]]:
    return [(each.direction, each.size, each.non_blocking) for each in virtual.copies()]


def test_log() -> None:
    """Each copy between devices is logged: direction, bytes, blocking or not; copies within one are not."""
    x = torch.ones(256).to("cuda")
    x.to("cuda:1", non_blocking=True)
    x.cpu()
    x.clone().copy_(x)
    torch.tensor([1.0, 2.0], device="cuda")
    assert crossings() == [
        ("upload", 1024, False),
        ("peer", 1024, True),
        ("download", 1024, False),
        ("upload", 8, False),
    ]
    first = virtual.copies()[0]
    assert (first.source, first.target, first.read) == ("cpu", "cuda:0", False)
    virtual.clear_copies()
    assert virtual.copies() == []


def test_scalar_reads() -> None:
    """Reading a value on the host is logged as a read; reading one on the CPU is not."""
    x = torch.tensor([1.0, 2.0]).cuda()
    virtual.clear_copies()
    assert (x[0].item(), float(x[1]), bool(x[0] > 0)) == (1.0, 2.0, True)
    torch.ones(1).item()
    assert [(each.size, each.read) for each in virtual.copies()] == [(4, True), (4, True), (1, True)]


def test_an_index_on_the_host_is_uploaded() -> None:
    """Indexing with a CPU tensor is allowed, and is a copy to the device."""
    x = torch.ones(4, device="cuda")
    virtual.clear_copies()
    x[torch.tensor([0, 2])]
    assert crossings() == [("upload", 16, False)]


def test_pinned_memory() -> None:
    """Pinned memory is known as such, by tensors and their views, until it is freed."""
    downloaded = torch.ones(4).cuda().to("cpu", non_blocking=True)
    pinned = [torch.empty(4, pin_memory=True), torch.ones(4).pin_memory(), downloaded]
    assert [each.is_pinned() for each in pinned] == [True] * 3
    assert pinned[0][1:].is_pinned()
    assert pinned[1].tolist() == [1] * 4
    assert pinned[1].pin_memory() is pinned[1]
    assert not torch.empty(4).is_pinned()
    assert not torch.ones(4).cuda().cpu().is_pinned()
    del pinned, downloaded
    assert not any(torch.empty(4).is_pinned() for _ in range(100))
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.zeros(2, device="cuda").pin_memory()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python's, about forks of processes with threads
def test_data_loader(workers: int) -> None:
    """A DataLoader pins its batches, with workers or without."""
    data = TensorDataset(torch.randn(20, 3), torch.arange(20))
    seen = 0
    torch.ones(1, device="cuda")
    for x, _ in DataLoader(data, batch_size=8, pin_memory=True, num_workers=workers):
        assert x.is_pinned()
        seen += len(x.to("cuda", non_blocking=True))
    assert seen == 20


class _OnDevice(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, _: int) -> torch.Tensor:
        return torch.zeros(2, device="cuda")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as above
def test_a_forked_worker_may_not_use_it() -> None:
    """A forked worker that uses the device, after its parent has, gets CUDA's error."""
    torch.ones(1, device="cuda")
    with pytest.raises(RuntimeError, match="Cannot re-initialize CUDA in forked subprocess"):
        list(DataLoader(_OnDevice(), num_workers=1))


def test_streams_and_events() -> None:
    """Streams can be made current and compared, events measure, and everything is done when asked."""
    stream = torch.cuda.Stream()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        start.record()
        y = torch.rand(50, 50, device="cuda") @ torch.rand(50, 50, device="cuda")
        end.record()
        assert torch.cuda.current_stream() == stream
    torch.cuda.current_stream().wait_stream(stream)
    y.record_stream(stream)
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert stream.query()
    assert repr(torch.cuda.default_stream()) == "<torch.cuda.Stream device=cuda:0 cuda_stream=0x0>"
    with stream:
        assert torch.cuda.current_stream() == stream
    assert isinstance(stream, torch.Stream)
    assert torch.accelerator.current_stream() == torch.cuda.default_stream()
    generic = torch.Stream("cuda:1")
    assert (type(generic), generic.device) == (torch.cuda.Stream, torch.device("cuda:1"))
    assert type(torch.Event("cuda")) is torch.cuda.Event
    with pytest.raises(ValueError, match="enable_timing=True"):
        torch.cuda.Event().elapsed_time(end)
    with torch.cuda.stream(torch.cuda.Stream("cuda:1")):
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0


def test_downloads_arrive_at_once_by_default() -> None:
    """Without delay, a non-blocking download has arrived when it returns."""
    assert torch.ones(3).cuda().to("cpu", non_blocking=True).tolist() == [1, 1, 1]


def test_late_downloads() -> None:
    """With delay, what is read too early is wrong, and a synchronise makes it right."""
    x = torch.tensor([1.0, 2.0], device="cuda")
    with virtual.delay_downloads():
        y = x.to("cpu", non_blocking=True)
        whole = x.long().to("cpu", non_blocking=True)
        assert torch.isnan(y).all()
        assert whole.tolist() == [-1, -1]
        torch.cuda.synchronize()
        assert y.tolist() == [1, 2]
        assert whole.tolist() == [1, 2]


def test_late_downloads_show_the_value_at_their_time() -> None:
    """A late download brings what the tensor was when asked for; a buffer keeps its old values till then."""
    x = torch.ones(2, device="cuda")
    buffer = torch.zeros(2, pin_memory=True)
    with virtual.delay_downloads():
        buffer.copy_(x, non_blocking=True)
        x.fill_(7)
        assert buffer.tolist() == [0, 0]
        torch.cuda.current_stream().synchronize()
        assert buffer.tolist() == [1, 1]


def test_what_is_never_late() -> None:
    """Blocking downloads, and non-blocking ones into memory that is not pinned, have arrived when they return."""
    x = torch.ones(2, device="cuda")
    buffer = torch.zeros(2)
    with virtual.delay_downloads():
        assert x.cpu().tolist() == [1, 1]
        assert buffer.copy_(x, non_blocking=True).tolist() == [1, 1]


def test_a_copy_into_ordinary_memory_waits() -> None:
    """A non-blocking download into memory that is not pinned waits for what its stream was given before."""
    x = torch.ones(1, device="cuda")
    with virtual.delay_downloads():
        y = x.to("cpu", non_blocking=True)
        torch.zeros(1).copy_(x, non_blocking=True)
        assert y.item() == 1


@pytest.mark.parametrize("non_blocking", [False, True])
def test_a_copy_of_nothing_waits_for_nothing(non_blocking: bool) -> None:
    """Where no value is copied, in either direction, nothing that is under way is waited for."""
    x, nothing = torch.ones(1, device="cuda"), torch.ones(0, 3)
    with virtual.delay_downloads():
        y = x.to("cpu", non_blocking=True)
        there = nothing.to("cuda", non_blocking=non_blocking)
        assert there.to("cpu", non_blocking=non_blocking).shape == (0, 3)
        assert torch.empty(0, 3).copy_(there, non_blocking=non_blocking).shape == (0, 3)
        assert y.isnan().item()
        torch.cuda.synchronize()
        assert y.item() == 1


def test_events_and_late_downloads() -> None:
    """An event completes what was under way when it was recorded, and not what came after."""
    x = torch.ones(1, device="cuda")
    with virtual.delay_downloads():
        first = x.to("cpu", non_blocking=True)
        event = torch.cuda.Event()
        event.record()
        second = x.to("cpu", non_blocking=True)
        event.synchronize()
        assert first.item() == 1
        assert second.isnan().item()
        assert torch.cuda.current_stream().query()
        assert second.item() == 1


def test_streams_and_late_downloads() -> None:
    """Waiting for one stream completes nothing of another, unless it has waited for that one itself."""
    x = torch.ones(1, device="cuda")
    side = torch.cuda.Stream()
    with virtual.delay_downloads():
        with torch.cuda.stream(side):
            y = x.to("cpu", non_blocking=True)
        torch.cuda.current_stream().synchronize()
        assert y.isnan().item()
        torch.cuda.current_stream().wait_stream(side)
        assert y.isnan().item()
        torch.cuda.current_stream().synchronize()
        assert y.item() == 1


def test_a_blocking_read_completes_its_stream() -> None:
    """`.item()` and a blocking copy wait for the current stream, as on CUDA."""
    x = torch.ones(1, device="cuda")
    with virtual.delay_downloads():
        y = x.to("cpu", non_blocking=True)
        x.item()
        assert y.item() == 1
        y = x.to("cpu", non_blocking=True)
        x.cpu()
        assert y.item() == 1
        y = x.to("cpu", non_blocking=True)
    assert y.item() == 1
