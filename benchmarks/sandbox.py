"""What confinement costs: a warm job beside a bare fork that plays the same, the start beside importing torch, memory.

    python benchmarks/sandbox.py [RUNS]

The promises, for tier `full`: a warm job costs at most 3 x a bare fork that plays the same scenario; the fork server is
ready after at most 2 x `import torch`; a live job has at most 40 MiB of memory of its own. All in turn in one run.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from proctorch.bank.question import Limits
from proctorch.judge.grade import Tier
from proctorch.judge.supervise import Sandbox

_SUBMISSION = """
import torch

def train(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(32, 64, device=device), torch.randint(8, (32,), device=device)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model(x).sum().item()
"""
_SCENARIOS = b"def train(candidate, device, probe):\n    return candidate.train(device)\n"
_STEPS = 20
_PRELOAD = ("torch._dynamo",)
_MIB = 1 << 20


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    source = _SUBMISSION.replace("STEPS", str(_STEPS))
    torch.set_num_threads(1)
    namespace: dict[str, Callable[[str], float]] = {}
    exec(compile(source, "submission.py", "exec"), namespace)  # noqa: S102 - our own text
    namespace["train"]("cpu")  # warms what a fork server has warm too
    tiers = {tier: Sandbox(_PRELOAD, strongest=tier) for tier in Tier}
    found = {tier: sandbox.strength.tier for tier, sandbox in tiers.items()}
    seconds: dict[str, list[float]] = {"bare fork": [], **{tier.value: [] for tier in Tier}}
    own: list[float] = []
    for turn in range(runs + 3):
        parts = {"bare fork": lambda: _bare(namespace["train"])}
        parts |= {tier.value: lambda box=box: _job(box, source.encode(), own) for tier, box in tiers.items()}  # type: ignore[misc]
        for name, part in parts.items():
            began = time.perf_counter()
            part()
            if turn >= 3:
                seconds[name].append(time.perf_counter() - began)
    for sandbox in tiers.values():
        sandbox.close()
    bare = statistics.median(seconds["bare fork"])
    print(f"one job: start, load, {_STEPS} steps of a small model, end; {runs} times, in turn")
    print(f"{'':12} {'median ms':>10} {'min':>7} {'max':>7} {'x bare fork':>12}")
    for name, each in seconds.items():
        here = "" if name == "bare fork" or found[Tier(name)].value == name else f"  (here: {found[Tier(name)].value})"
        middle = statistics.median(each)
        print(
            f"{name:12} {middle * 1e3:10.1f} {min(each) * 1e3:7.1f} {max(each) * 1e3:7.1f} {middle / bare:12.2f}{here}"
        )
    print(f"a live job's own memory: {statistics.median(own) / _MIB:.1f} MiB")
    _start(5)


def _bare(train: Callable[[str], float]) -> None:
    read, write = os.pipe()
    if (process := os.fork()) == 0:
        torch.set_num_threads(1)
        os.write(write, str(train("cpu")).encode())
        os._exit(0)
    os.close(write)
    os.read(read, 100)
    os.close(read)
    os.waitpid(process, 0)


def _job(sandbox: Sandbox, source: bytes, own: list[float]) -> None:
    process = sandbox.start(Limits())
    load = {"op": "load", "file": "submission.py", "module": "submission", "source": source, "helpers": ()}
    process.ask({"op": "prepare", "scenarios": _SCENARIOS}, 10)
    process.ask(load | {"entry": {"train": [["device", None, False]]}, "seed": 0}, 10)
    play = {"op": "play", "scenario": "train", "inputs": {}, "device": "cpu", "budget": None, "seed": 0}
    answer = process.ask(play, 10)
    assert "value" in answer, answer
    own.append(_own_memory(sandbox))
    process.close()


def _own_memory(sandbox: Sandbox) -> float:
    """Bytes that only the newest process below the sandbox has: what would be freed if it ended."""
    process = sandbox.process_id
    while children := _children(process):
        process = children[-1]
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as rollup:  # noqa: PTH123 - a file of the kernel's
        return sum(
            int(line.split()[1]) * 1024 for line in rollup if line.startswith(("Private_Clean", "Private_Dirty"))
        )


def _children(process: int) -> list[int]:
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as children:  # noqa: PTH123 - as above
        return [int(child) for child in children.read().split()]


def _start(runs: int) -> None:
    seconds: dict[str, list[float]] = {"import torch": [], "fork server": []}
    for turn in range(runs + 1):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import torch"], check=True)
        middle = time.perf_counter()
        with Sandbox() as sandbox:
            sandbox.start(Limits()).close()
            ended = time.perf_counter()
        if turn:
            seconds["import torch"].append(middle - began)
            seconds["fork server"].append(ended - middle)
    torch_, ready = (statistics.median(each) for each in seconds.values())
    print(f"import torch {torch_:.2f} s; fork server, through its first job {ready:.2f} s: {ready / torch_:.2f} x")


if __name__ == "__main__":
    main()
