"""Turning the device on and off, forks, exits, and where there cannot be one."""

import subprocess
import sys
import textwrap

import pytest
import torch

from proctorch import virtual
from proctorch.virtual import guard, selftest

pytestmark = pytest.mark.off


def run(script: str) -> str:
    """What a fresh process prints that runs `script`; it must end well."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    return done.stdout


def test_importing_it_does_not_import_torch() -> None:
    """`from proctorch import virtual`, and the pytest plugin, start without torch."""
    assert (
        run("""
        import sys
        from proctorch import virtual
        import proctorch.virtual.pytest_plugin
        print("torch" in sys.modules)
    """)
        == "False\n"
    )


def test_it_needs_torch_alone() -> None:
    """Using it imports nothing of ours but itself."""
    assert (
        run("""
        import sys, torch
        from proctorch import virtual
        virtual.enable()
        torch.ones(1, device="cuda")
        print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("proctorch.")}))
    """)
        == "['virtual']\n"
    )


def test_on_and_off() -> None:
    """It is on inside the context, off outside, also after an error, and can be turned on again."""
    assert not virtual.is_enabled()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), virtual.cuda():
            _ = torch.ones(1, device="cuda").item() / (0 if virtual.is_enabled() else 1)
        assert not virtual.is_enabled()
        assert not torch.cuda.is_available()
    virtual.disable()


def test_twice() -> None:
    """Turning it on twice is refused in one line."""
    with virtual.cuda(), pytest.raises(RuntimeError, match="on already: turn it off with disable\\(\\) first"):
        virtual.enable()


@pytest.mark.parametrize(
    "memory", ["lots", "12 apples", "-5MiB", "", 0, -1, True, 1.5, "0MiB", ("1MiB", "x"), [], "9e9"]
)
def test_a_budget_that_is_no_size(memory: object) -> None:
    """A budget that is no size is refused in one line, and nothing is turned on."""
    with pytest.raises(ValueError, match="size") as caught:
        virtual.enable(memory=memory)  # type: ignore[arg-type]  # on purpose
    assert "\n" not in str(caught.value)
    assert not virtual.is_enabled()


@pytest.mark.parametrize("devices", [0, 5, -1, True, "2"])
def test_a_number_of_devices_that_is_none(devices: object) -> None:
    """The number of devices is 1 to 4."""
    with pytest.raises(ValueError, match="the number of virtual devices is 1 to 4"):
        virtual.enable(devices=devices)  # type: ignore[arg-type]  # on purpose


def test_sizes() -> None:
    """A budget is bytes or a text with a unit, for all devices or for each."""
    for memory, budget in (
        (4096, 4096),
        ("4096", 4096),
        ("1 KiB", 1024),
        ("1.5MiB", 3 << 19),
        ("1MB", 10**6),
        ("2GiB", 2 << 30),
    ):
        with virtual.cuda(memory=memory):
            assert virtual.memory_stats().budget == budget
    with virtual.cuda(memory=["1MiB", 512]):
        assert [virtual.memory_stats(index).budget for index in range(torch.cuda.device_count())] == [1 << 20, 512]
    with pytest.raises(ValueError, match="2 memory sizes for 3 devices"):
        virtual.enable(memory=["1MiB", "1MiB"], devices=3)


def test_after_tensors_were_made() -> None:
    """Tensors made before can be moved to the device, and tensors of the device outlive it."""
    before = torch.ones(3)
    module = torch.nn.Linear(3, 1)
    with virtual.cuda():
        x = before.cuda()
        module.cuda()(x).sum().backward()
    assert (x + 1).tolist() == [2, 2, 2]
    assert x.cpu().tolist() == [1, 1, 1]
    with pytest.raises((AssertionError, RuntimeError), match=r"Torch not compiled with CUDA enabled|no NVIDIA driver"):
        torch.ones(1, device="cuda")
    assert module.cpu().weight.grad is not None
    with virtual.cuda():
        assert virtual.memory_stats().live == 512


def test_seeds_hold_every_time_it_is_on() -> None:
    """manual_seed before the first use works the second time as well."""
    drawn = []
    for _ in range(2):
        with virtual.cuda():
            torch.manual_seed(5)
            drawn.append(torch.rand(3, device="cuda").tolist())
    assert drawn[0] == drawn[1]


def test_after_a_backward_pass() -> None:
    """Turned on for the first time after a backward pass, it is refused in one line, and torch goes on without it."""
    told = run("""
        import torch
        from proctorch import virtual
        x = torch.ones(1, requires_grad=True)
        x.sum().backward()
        try:
            virtual.enable()
        except virtual.Unsupported as error:
            print(error)
        print(virtual.is_enabled(), torch.cuda.is_available())
        x.sum().backward()
    """)
    first, second = told.splitlines()
    assert first.startswith("a backward pass has run in this process before, and torch's autograd engine cannot learn")
    assert second == "False False"


def test_fork_after_use() -> None:
    """A child of a process that has used the device gets CUDA's error; before the first use a fork is fine."""
    out = run("""
        import os, torch
        from proctorch import virtual
        virtual.enable()
        def child():
            if os.fork() == 0:
                try:
                    print(torch.ones(1, device="cuda").tolist(), flush=True)
                except RuntimeError as error:
                    print(error, flush=True)
                os._exit(0)
            os.wait()
        child()
        torch.ones(1, device="cuda")
        child()
    """)
    first, second = out.splitlines()
    assert first == "[1.0]"
    assert second.startswith("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing")


def test_registered_before_a_fork() -> None:
    """A process that has registered it forks children that turn it on in milliseconds, and train."""
    out = run("""
        import os, time, torch
        from proctorch import virtual
        torch.set_num_threads(1)
        virtual.register()
        assert not torch.cuda.is_available() and not torch.accelerator.is_available()
        for number in range(20):
            if os.fork() == 0:
                start = time.perf_counter()
                virtual.enable(memory="64MiB", devices=2)
                seconds = time.perf_counter() - start
                layer = torch.nn.Linear(4, 2).cuda()
                layer(torch.ones(1, 4, device="cuda")).sum().backward()
                print(layer.weight.grad.device, seconds < 0.05, flush=True)
                os._exit(0)
            assert os.wait()[1] == 0
    """)
    assert out == "cuda:0 True\n" * 20


def test_fifty_starts_and_exits() -> None:
    """Fifty processes in a row start it, train on two devices, and exit in the ordinary way without a crash."""
    out = run("""
        import gc, os, sys, torch
        from proctorch import virtual
        gc.freeze()  # else every child spends half a second on what torch has imported
        for number in range(50):
            if os.fork() == 0:
                virtual.enable(devices=2)
                x = torch.ones(4, device="cuda", requires_grad=True)
                (x.to("cuda:1") * 2).sum().backward()
                if number % 2:
                    virtual.disable()
                sys.exit(0)
            assert os.wait()[1] == 0, number
        print("fine")
    """)
    assert out == "fine\n"


def test_exits_of_whole_processes() -> None:
    """A process that leaves tensors, graphs and threads behind exits without a crash."""
    run("""
        import threading, torch
        from proctorch import virtual
        virtual.enable(devices=2)
        kept = torch.ones(4, device="cuda", requires_grad=True)
        graph = (kept * 2).exp()
        graph.sum().backward(retain_graph=True)
        pinned = torch.empty(4, pin_memory=True)
        event = threading.Event()
        threading.Thread(target=event.wait, daemon=True).start()
    """)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"torch.__version__": "2.11.0"}, "is tested with torch 2.12, 2.13, 2.14, and this is torch 2.11.0"),
        (
            {"torch.__version__": "2.15.0a0+git1"},
            "is tested with torch 2.12, 2.13, 2.14, and this is torch 2.15.0a0+git1",
        ),
        ({"sys.platform": "darwin"}, "needs Linux on x86-64"),
        ({"platform.machine": lambda: "aarch64"}, "needs Linux on x86-64"),
        ({"torch.version.hip": "6.0"}, "does not work with torch built for ROCm"),
        (
            {"torch.cuda.is_available": lambda: True, "torch.cuda.get_device_name": lambda: "H100"},
            "there is a real CUDA device here (H100): use that one",
        ),
    ],
)
def test_where_there_cannot_be_one(facts: dict[str, object], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an untested torch or platform, or beside a real device, one line says why not."""
    monkeypatch.setattr(guard, "is_taken", lambda: False)
    assert selftest.obstacle() is None
    for name, value in facts.items():
        monkeypatch.setattr(name, value)
    found = selftest.obstacle()
    assert found is not None
    assert reason in found
    assert "\n" not in found


def test_an_unknown_torch_is_refused_before_anything_is_touched() -> None:
    """If torch declares its virtual functions differently, enabling raises Unsupported, and torch works on."""
    assert run("""
        import torch
        from proctorch import virtual
        from proctorch.virtual import native, guard
        guard.virtual_functions = lambda *_: ["type", "somethingElse"]
        try:
            virtual.enable()
        except virtual.Unsupported as error:
            print(error)
        x = torch.ones(2, requires_grad=True)
        x.sum().backward()
        print(torch.cuda.is_available())
    """).startswith("the virtual device cannot be made: torch 2.")


def test_the_compilers_frame_hook_leaves_it_alone() -> None:
    """With the device on, torch.compile traces code of the CPU and of the device, where its backend needs no CUDA."""
    assert (
        run("""
        import torch
        from proctorch import virtual
        virtual.enable()
        for device in ("cpu", "cuda"):
            x = torch.ones(3, device=device, requires_grad=True)
            torch.compile(lambda t: (t * 2 + 1).sum(), backend="aot_eager")(x).backward()
            print(x.grad.tolist(), x.grad.device)
    """)
        == "[2.0, 2.0, 2.0] cpu\n[2.0, 2.0, 2.0] cuda:0\n"
    )
