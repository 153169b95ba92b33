"""Compares the virtual accelerator with a real CUDA device, where there is one: `make gpu-check`.

The same-device table, the memory table, the autocast table and every trial of `proctorch verify` are run on the real
device and, in a process that hides it, on the virtual one. Whatever differs is printed. Without a real device this says
so and ends with 0.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_HIDE = {"CUDA_VISIBLE_DEVICES": ""}
_IS_THERE = "import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else '')"
_TABLES = """
import contextlib, json, sys, torch
from proctorch import virtual
from proctorch.virtual import autocast, memory_table, same_device
with contextlib.nullcontext() if torch.cuda.is_available() else virtual.cuda():
    told = {f"same device: {each}": same_device.outcome(each, "cuda:0") for each in same_device.TABLE}
    told |= {f"memory: {each}": memory_table.live_bytes(each, "cuda:0") for each in memory_table.TABLE}
    for dtype in (torch.float16, torch.bfloat16):
        told |= {f"autocast {dtype}: {each}": str(autocast.outcome(each, "cuda:0", dtype)) for each in autocast.TABLE}
print(json.dumps(told))
"""


def main() -> int:
    """Runs both sides and prints where they differ; 1 if anywhere."""
    name = _last_line([sys.executable, "-c", _IS_THERE], {})
    if not name:
        print("no real CUDA device here: nothing to compare the virtual one with")
        return 0
    print(f"real device: {name}")
    real, virtual = (json.loads(_last_line([sys.executable, "-c", _TABLES], hide)) for hide in ({}, _HIDE))
    different = _compare(real, virtual, "of the tables' rows")
    different += _compare(_verdicts("cuda:0", {}), _verdicts("virtual", _HIDE), "trials")
    return 1 if different else 0


def _verdicts(device: str, hide: dict[str, str]) -> dict[str, Any]:
    """What became of every trial of the default bank on the device."""
    command = [str(Path(sys.executable).with_name("proctorch")), "verify", "--device", device, "--json"]
    done = subprocess.run(command, env=os.environ | hide, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"verify on {device} ended with {done.returncode}")
    rows = [row for row in json.loads(done.stdout) if "trial" in row]
    return {f"{row['question']}: {row['trial']}": (row["verdict"], row["problem"]) for row in rows}


def _compare(real: dict[str, Any], virtual: dict[str, Any], what: str) -> int:
    different = [name for name in sorted(real.keys() | virtual.keys()) if real.get(name) != virtual.get(name)]
    for name in different:
        print(f"{name}\n    real:    {real.get(name)}\n    virtual: {virtual.get(name)}")
    print(f"{len(different)} of {len(real)} {what} differ")
    return len(different)


def _last_line(command: list[str], hide: dict[str, str]) -> str:
    done = subprocess.run(command, env=os.environ | hide, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    return done.stdout.strip().rpartition("\n")[2]


if __name__ == "__main__":
    sys.exit(main())
