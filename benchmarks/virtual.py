"""What the virtual device costs beside the CPU, in one run: `python benchmarks/virtual.py`.

Each figure is the best of several rounds, on one thread. The limits are those that the device is built to.
"""

import copy
import os
import time
import timeit
from collections.abc import Callable

import torch
from torch import nn

from proctorch import virtual

MICRO = 1e6


def best(function: Callable[[], object], number: int, rounds: int = 12) -> float:
    """Microseconds a call."""
    function()
    return min(timeit.repeat(function, number=number, repeat=rounds)) / number * MICRO


def step(module: nn.Module, x: torch.Tensor, y: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    nn.functional.cross_entropy(module(x), y).backward()
    optimizer.step()


def in_a_forked_child() -> float:
    """Milliseconds to turn it on in the child of a process that has registered it."""
    read, write = os.pipe()
    if os.fork() == 0:
        start = time.perf_counter()
        virtual.enable()
        os.write(write, str((time.perf_counter() - start) * 1e3).encode())
        os._exit(0)
    os.wait()
    return float(os.read(read, 64))


def starts() -> None:
    start = time.perf_counter()
    virtual.register()
    registered = (time.perf_counter() - start) * 1e3
    child = min(in_a_forked_child() for _ in range(5))
    start = time.perf_counter()
    virtual.enable(memory="4GiB")
    enabled = (time.perf_counter() - start) * 1e3
    print(f"{'turning on (self-test included)':<34}{registered + enabled:9.1f} ms   limit 100 ms")
    print(f"{'… in a forked child':<34}{child:9.1f} ms   limit   5 ms\n")


def operations() -> None:
    x = torch.randn(4, 4)
    there = x.cuda()
    cases: dict[str, tuple[Callable[[torch.Tensor], object], float | None]] = {
        "x + x": (lambda t: t + t, 20),
        "x @ x": (lambda t: t @ t, 20),
        "x.view(-1)": (lambda t: t.view(-1), 4),
        "x.reshape(2, 8)": (lambda t: t.reshape(2, 8), 4),
        "x[0]": (lambda t: t[0], 4),
        "x.t()": (lambda t: t.t(), 4),
        "x[1:3]": (lambda t: t[1:3], 4),
        "x * 2.5": (lambda t: t * 2.5, None),
        "x.add_(1)": (lambda t: t.add_(1), None),
        "x.relu()": (lambda t: t.relu(), None),
        "x.softmax(-1)": (lambda t: t.softmax(-1), None),
        "x[0, 0].item()": (lambda t: t[0, 0].item(), None),
        "x.clone()": (lambda t: t.clone(), None),
    }
    print(f"{'operation':<34}{'CPU us':>9}{'virtual us':>12}{'above us':>10}   limit")
    for name, (function, limit) in cases.items():
        host = best(lambda function=function: function(x), 1000)  # type: ignore[misc]
        device = best(lambda function=function: function(there), 1000)  # type: ignore[misc]
        print(f"{name:<34}{host:9.2f}{device:12.2f}{device - host:10.2f}   {limit or ''}")


def steps() -> None:
    print(f"\n{'training step':<34}{'CPU us':>9}{'virtual us':>12}{'ratio':>10}   limit")
    mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    convolutions = nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)),
    )
    cases = {
        "MLP, SGD": (mlp, torch.optim.SGD, torch.randn(32, 64), 20, 4.0),
        "MLP, Adam": (mlp, torch.optim.Adam, torch.randn(32, 64), 20, None),
        "convolutions, SGD": (convolutions, torch.optim.SGD, torch.randn(16, 3, 32, 32), 2, 1.15),
    }
    for name, (module, optimizer, x, number, limit) in cases.items():
        y = torch.randint(0, 10, (len(x),))
        found = {}
        for device in ("cpu", "cuda"):
            placed = copy.deepcopy(module).to(device)
            made = optimizer(placed.parameters(), lr=0.01)
            there, labels = x.to(device), y.to(device)
            found[device] = best(lambda a=placed, b=there, c=labels, d=made: step(a, b, c, d), number)  # type: ignore[misc]
        print(f"{name:<34}{found['cpu']:9.0f}{found['cuda']:12.0f}{found['cuda'] / found['cpu']:10.2f}   {limit or ''}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    starts()
    operations()
    steps()
