"""Device memory: counted by storage, limited by a budget."""

import gc
import threading

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

from proctorch import virtual
from proctorch.virtual import memory_table

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _collected() -> None:
    """What other tests have left in reference cycles is not this test's."""
    gc.collect()


@pytest.mark.parametrize("expression", memory_table.TABLE)
def test_table(expression: str) -> None:
    """Each expression of the table holds the bytes that it holds on CUDA."""
    assert memory_table.live_bytes(expression, "cuda:0") == memory_table.TABLE[expression]


def test_by_storage() -> None:
    """A storage counts once, however many tensors share it, and until the last of them dies."""
    x = torch.empty(256, 1024, device="cuda")
    view, turned = x.view(-1)[10:20], x.t()
    assert torch.cuda.memory_allocated() == MIB
    del x, turned
    assert torch.cuda.memory_allocated() == MIB
    del view
    assert torch.cuda.memory_allocated() == 0


def test_peak() -> None:
    """The peak is the most that was live at once, since it was last reset."""
    a = torch.ones(MIB, device="cuda")
    b = a + 1
    del b
    assert torch.cuda.memory_allocated() == 4 * MIB
    assert torch.cuda.max_memory_allocated() == 8 * MIB
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == 4 * MIB
    del a


def test_statistics() -> None:
    """torch.cuda's statistics, and ours, agree with each other."""
    x = torch.ones(MIB, dtype=torch.uint8, device="cuda")
    stats = torch.cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == MIB
    assert torch.cuda.memory_reserved() >= MIB
    free, total = torch.cuda.mem_get_info()
    assert (total, free) == (2048 * MIB, 2048 * MIB - torch.cuda.memory_reserved())
    assert "CUDA OOMs: 0" in torch.cuda.memory_summary()
    assert virtual.memory_stats() == virtual.MemoryStats(MIB, MIB, 2048 * MIB, 1, 0)
    del x


def test_devices_count_for_themselves() -> None:
    """Each device has its own bytes."""
    x = torch.ones(MIB, dtype=torch.uint8, device="cuda:1")
    assert (torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)) == (0, MIB)
    y = x.to("cuda:0")
    assert (torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)) == (MIB, MIB)
    del x, y


def test_activations() -> None:
    """Saved activations count until backward; without gradients they do not; checkpointing holds fewer."""
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(8)]).cuda()
    x = torch.randn(1024, 256, device="cuda")
    activation = 1024 * 256 * 4
    before = torch.cuda.memory_allocated()
    out = layers(x)
    assert torch.cuda.memory_allocated() - before == 8 * activation
    out.sum().backward()
    layers.zero_grad()
    del out
    with torch.no_grad():
        out = layers(x)
    assert torch.cuda.memory_allocated() - before == activation
    del out
    out = checkpoint_sequential(layers, 4, x, use_reentrant=False)
    assert torch.cuda.memory_allocated() - before == 5 * activation  # three inputs of segments, and the last segment
    del out


@pytest.mark.off
def test_out_of_memory() -> None:
    """What does not fit raises torch.OutOfMemoryError, a RuntimeError, with CUDA's words."""
    with virtual.cuda(memory="64MiB"):
        with pytest.raises(torch.OutOfMemoryError) as caught:
            torch.empty(100 * MIB, device="cuda")
        message = str(caught.value)
        assert message.startswith("CUDA out of memory. Tried to allocate 400.00 MiB. GPU 0 has a total capacity of ")
        assert "GPU 0 has a total capacity of 64.00 MiB of which 64.00 MiB is free." in message
        assert "Of the allocated memory 0 bytes is allocated by PyTorch" in message
        assert issubclass(torch.OutOfMemoryError, RuntimeError)
        with pytest.raises(torch.cuda.OutOfMemoryError):
            torch.zeros(100 * MIB).cuda()
        assert virtual.memory_stats().failures == 2


@pytest.mark.off
def test_budgets_of_their_own() -> None:
    """Two devices have two budgets, and what fits on one may not fit on the other."""
    with virtual.cuda(memory=("4MiB", "64MiB"), devices=2):
        big = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda:1")
        with pytest.raises(torch.OutOfMemoryError, match=r"GPU 0 has a total capacity of 4\.00 MiB"):
            big.to("cuda:0")
        with pytest.raises(torch.OutOfMemoryError, match=r"GPU 1 has a total capacity of 64\.00 MiB"):
            torch.empty(60 * MIB, dtype=torch.uint8, device="cuda:1")


@pytest.mark.off
def test_fraction() -> None:
    """set_per_process_memory_fraction limits what can be had."""
    with virtual.cuda(memory="64MiB"):
        torch.cuda.set_per_process_memory_fraction(0.5)
        with pytest.raises(torch.OutOfMemoryError, match=r"32\.00 MiB allowed"):
            torch.empty(40 * MIB, dtype=torch.uint8, device="cuda")


@pytest.mark.off
def test_a_failed_attempt_counts_until_it_dies() -> None:
    """The tensors of a failed attempt live as long as its exception, and no longer."""

    def attempt() -> None:
        held = torch.empty(20 * MIB, dtype=torch.uint8, device="cuda")
        torch.empty(60 * MIB, dtype=torch.uint8, device="cuda")
        del held

    with virtual.cuda(memory="64MiB"):
        try:
            attempt()
        except torch.OutOfMemoryError as error:
            assert torch.cuda.memory_allocated() == 20 * MIB
            kept = error
        assert torch.cuda.memory_allocated() == 20 * MIB
        del kept
        assert torch.cuda.memory_allocated() == 0


@pytest.mark.off
def test_an_exception_holds_no_operands() -> None:
    """An exception from an operation holds no tensor but those of Python frames: on CUDA, kernels have no frames."""
    with virtual.cuda(memory="64MiB"):
        x = torch.empty(20 * MIB, dtype=torch.uint8, device="cuda")
        kept = None
        try:
            (x + 1) + (x + 2).to(torch.int32)  # two results of 20 MiB, then one of 80 MiB
        except torch.OutOfMemoryError as error:
            kept = error
        assert kept is not None
        assert torch.cuda.memory_allocated() == 20 * MIB


@pytest.mark.off
def test_backing_off() -> None:
    """Halving a batch until it fits ends with one that fits, and nothing of the failed attempts is left."""
    with virtual.cuda(memory="64MiB"):
        module = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
        held = torch.cuda.memory_allocated()
        size, tried = 8192, []
        while True:
            tried.append(size)
            try:
                module(torch.randn(size, 512, device="cuda")).sum().backward()
                break
            except torch.OutOfMemoryError:
                size //= 2
        assert tried == [8192, 4096, 2048, 1024]
        module.zero_grad()
        assert torch.cuda.memory_allocated() == held


def test_training_does_not_leak() -> None:
    """After the first step, memory is the same after each."""
    layer = nn.Linear(64, 64).cuda()
    optimizer = torch.optim.Adam(layer.parameters())
    used = []
    for _ in range(5):
        optimizer.zero_grad()
        layer(torch.rand(4, 64, device="cuda")).sum().backward()
        optimizer.step()
        used.append(torch.cuda.memory_allocated())
    assert len(set(used[1:])) == 1


def test_kept_losses_leak() -> None:
    """Losses kept with their graph hold its memory; detached they do not."""
    w = torch.randn(256, 1024, device="cuda", requires_grad=True)
    before = torch.cuda.memory_allocated()
    losses = [w.exp().sum() for _ in range(3)]
    assert torch.cuda.memory_allocated() - before == 3 * (MIB + 512)
    losses = [each.detach() for each in losses]
    gc.collect()
    assert torch.cuda.memory_allocated() - before == 3 * 512


def test_from_many_threads() -> None:
    """Threads that allocate at once are counted exactly."""

    def work() -> None:
        for _ in range(200):
            x = torch.ones(1000, device="cuda")
            x + x

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torch.cuda.memory_allocated() == 0
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == 4 * 200 * 2


@pytest.mark.off
def test_timeline() -> None:
    """The timeline has every allocation, release and failure, with the bytes live after it."""
    with virtual.cuda(memory="4MiB"), virtual.record_timeline():
        x = torch.empty(MIB, dtype=torch.uint8, device="cuda")
        y = x + 1
        del x
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(8 * MIB, dtype=torch.uint8, device="cuda")
        del y
        moments = virtual.timeline()
    assert [(each.size, each.live, each.failed) for each in moments] == [
        (MIB, MIB, False),
        (MIB, 2 * MIB, False),
        (-MIB, MIB, False),
        (8 * MIB, MIB, True),
        (-MIB, 0, False),
    ]
    assert [each.seconds for each in moments] == sorted(each.seconds for each in moments)


@pytest.mark.parametrize("device", [-1, 2, "cuda:0"])
def test_statistics_of_a_device_that_does_not_exist(device: object) -> None:
    """Statistics of a device that is not there are refused, and the numbers that are there are named."""
    with pytest.raises(ValueError, match="numbered 0 to 1, and this is"):
        virtual.memory_stats(device)  # type: ignore[arg-type]  # on purpose


def test_what_the_driver_says_is_free() -> None:
    """A fraction that a process allows itself changes what it can have, not what mem_get_info says is free."""
    torch.cuda.set_per_process_memory_fraction(0.25)
    held = torch.empty(20 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.mem_get_info() == ((2 << 30) - torch.cuda.memory_reserved(), 2 << 30)
    with pytest.raises(torch.OutOfMemoryError, match=r"of which 1\.98 GiB is free\. .* 512\.00 MiB allowed; "):
        torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
    stats = torch.cuda.memory_stats()
    assert (stats["num_ooms"], stats["num_alloc_retries"]) == (1, 1)
    del held


def test_another_program_takes_memory() -> None:
    """What another program has is not free and cannot be had, torch does not count it, and it is given back."""
    held = torch.empty(MIB, dtype=torch.uint8, device="cuda")
    reserved = torch.cuda.memory_reserved()
    with virtual.occupy("1.5GiB"):
        assert torch.cuda.mem_get_info() == (512 * MIB - reserved, 2048 * MIB)
        assert (torch.cuda.memory_allocated(), torch.cuda.memory_reserved()) == (MIB, reserved)
        assert virtual.memory_stats().budget == 512 * MIB
        with pytest.raises(torch.OutOfMemoryError, match=r"of 2\.00 GiB of which 510\.00 MiB is free\. Process"):
            torch.empty(512 * MIB, dtype=torch.uint8, device="cuda")
        with pytest.raises(ValueError, match=r"^virtual device 0 has \d+ bytes free, and not 536870912$"):
            virtual.occupy(512 * MIB).__enter__()
        assert len(torch.empty(511 * MIB, dtype=torch.uint8, device="cuda")) == 511 * MIB
    assert torch.cuda.mem_get_info() == (2048 * MIB - torch.cuda.memory_reserved(), 2048 * MIB)
    assert len(torch.empty(1024 * MIB, dtype=torch.uint8, device="cuda")) == 1024 * MIB
    del held


def test_another_program_on_one_of_two() -> None:
    """It takes the memory of the device that is named; one that is not there is refused."""
    with virtual.occupy(MIB, device=1):
        assert [torch.cuda.mem_get_info(index)[0] >> 20 for index in (0, 1)] == [2048, 2047]
    with pytest.raises(ValueError, match="numbered 0 to 1, and this is 2"):
        virtual.occupy(MIB, device=2).__enter__()
