"""What the virtual device costs beside the CPU, in one run: `python benchmarks/virtual.py`.

One thread. The CPU and the device take turns in short rounds, so that a machine that changes its speed changes it for
both; all operations take part in every round, for the same reason. Of a single operation the best round of each
counts; of a training step the median of the rounds' ratios, with their middle half beside it. The C library is told to
keep freed memory: whether it gives a big block back to the system, and gets it again page by page, differs from run to
run and moves a convolution's step by a fifth, on the CPU as on the device. The limits are those that the device is
built to.
"""

import copy
import ctypes
import functools
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import nn

from proctorch import virtual

MICRO = 1e6
ROUNDS = 80
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h
ENABLE = """
import time, torch
from proctorch import virtual
start = time.perf_counter()
virtual.enable()
print((time.perf_counter() - start) * 1e3)
"""
Pair = tuple[Callable[[], object], Callable[[], object]]


def seconds(function: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        function()
    return (time.perf_counter() - start) / number


def in_turns(pairs: dict[str, Pair], number: int) -> dict[str, list[tuple[float, float]]]:
    """Microseconds a call of each, in rounds of `number` calls of the first of a pair and then of the second."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    gc.disable()
    for round_number in range(-ROUNDS // 8, ROUNDS):
        for name, (first, second) in pairs.items():
            one, other = seconds(first, number), seconds(second, number)
            if round_number >= 0:  # before, caches and memory settle
                found[name].append((one * MICRO, other * MICRO))
    gc.enable()
    return found


def step(module: nn.Module, x: torch.Tensor, y: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    nn.functional.cross_entropy(module(x), y).backward()
    optimizer.step()


def in_a_forked_child() -> float:
    """Milliseconds to turn it on in a child of this process."""
    read, write = os.pipe()
    if os.fork() == 0:
        start = time.perf_counter()
        virtual.enable()
        os.write(write, str((time.perf_counter() - start) * 1e3).encode())
        os._exit(0)
    os.wait()
    return float(os.read(read, 64))


def starts() -> None:
    first = min(float(subprocess.check_output([sys.executable, "-c", ENABLE])) for _ in range(5))
    virtual.register()
    later = min(in_a_forked_child() for _ in range(5))
    print(f"{'turning on (self-test included)':<34}{first:9.1f} ms   limit 100 ms")
    print(f"{'… in a child, once registered':<34}{later:9.1f} ms   limit   5 ms\n")
    virtual.enable(memory="4GiB")


def operations() -> None:
    x = torch.randn(4, 4)
    there = x.cuda()
    cases: dict[str, tuple[Callable[[torch.Tensor], object], float | None]] = {
        "x + x": (lambda t: t + t, 20),
        "x @ x": (lambda t: t @ t, 20),
        "x.view(-1)": (lambda t: t.view(-1), 4),
        "x.reshape(2, 8)": (lambda t: t.reshape(2, 8), 4),
        "x[0]": (lambda t: t[0], 4),
        "x[1:3]": (lambda t: t[1:3], 4),
        "x.t()": (lambda t: t.t(), 4),
        "x.unsqueeze(0)": (lambda t: t.unsqueeze(0), 4),
        "x * 2.5": (lambda t: t * 2.5, None),
        "x.add_(1)": (lambda t: t.add_(1), None),
        "x.relu()": (lambda t: t.relu(), None),
        "x.softmax(-1)": (lambda t: t.softmax(-1), None),
        "x[0, 0].item()": (lambda t: t[0, 0].item(), None),
        "x.clone()": (lambda t: t.clone(), None),
    }
    print(f"{'operation':<34}{'CPU us':>9}{'virtual us':>12}{'above us':>10}   limit")
    pairs = {
        name: (functools.partial(function, x), functools.partial(function, there))
        for name, (function, _) in cases.items()
    }
    for name, rounds in in_turns(pairs, 100).items():
        host, device = (min(times) for times in zip(*rounds, strict=True))
        limit = cases[name][1]
        print(f"{name:<34}{host:9.2f}{device:12.2f}{device - host:10.2f}   {limit or ''}")


def steps() -> None:
    print(f"\n{'training step':<34}{'CPU us':>9}{'virtual us':>12}{'ratio':>10}{'middle half':>14}   limit")
    mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    convolutions = nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)),
    )
    cases = {
        "MLP, SGD": (mlp, torch.optim.SGD, torch.randn(32, 64), 4, 4.0),
        "MLP, Adam": (mlp, torch.optim.Adam, torch.randn(32, 64), 4, None),
        "convolutions, SGD": (convolutions, torch.optim.SGD, torch.randn(16, 3, 32, 32), 1, 1.15),
    }
    for name, (module, optimizer, x, number, limit) in cases.items():
        y = torch.randint(0, 10, (len(x),))
        played = []
        for device in ("cpu", "cuda"):
            placed = copy.deepcopy(module).to(device)
            made = optimizer(placed.parameters(), lr=0.01)
            played.append(functools.partial(step, placed, x.to(device), y.to(device), made))
        rounds = in_turns({name: (played[0], played[1])}, number)[name]
        host, device_time = (statistics.median(times) for times in zip(*rounds, strict=True))
        low, ratio, high = statistics.quantiles((device / host for host, device in rounds), n=4)
        middle = f"{low:.2f}-{high:.2f}"
        print(f"{name:<34}{host:9.0f}{device_time:12.0f}{ratio:10.2f}{middle:>14}   {limit or ''}")


def keep_freed_memory() -> None:
    c = ctypes.CDLL(None)
    for parameter, value in ((M_TRIM_THRESHOLD, -1), (M_MMAP_MAX, 0)):
        c.mallopt(parameter, value)


if __name__ == "__main__":
    torch.set_num_threads(1)
    keep_freed_memory()
    starts()
    operations()
    steps()
