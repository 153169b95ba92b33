"""A job whose answer is known: what it gives says whether a fork server can still be relied on."""

from typing import Any

from proctorch import wire
from proctorch.bank.question import Limits
from proctorch.devices import Device
from proctorch.judge.channel import SandboxBroken
from proctorch.judge.sandbox import Sandbox, Unavailable
from proctorch.judge.supervise import Stopped

_LIMITS = Limits(seconds=20.0)
_MEMORY = (1 << 20,)
_SUBMISSION = b"""
def halve(x):
    return x / 2
"""
_SCENARIOS = b"""
import os
import torch

def canary(candidate, device, probe, number):
    x = torch.full((2,), number, device=device)
    return {"half": candidate.halve(x), "grad": torch.is_grad_enabled(), "files": os.listdir(".")}
"""


def in_order(sandbox: Sandbox, device: Device) -> bool:
    """Whether a job on the device gets the right answer, in an empty folder and an untouched torch.

    A fork server that fails is `broken` from then on.
    """
    try:
        process = sandbox.start(_LIMITS, accelerator=device.real_accelerator, virtual=None if device.real else _MEMORY)
        load: dict[str, Any] = {
            "op": "load",
            "file": "canary.py",
            "module": "canary",
            "source": _SUBMISSION,
            "helpers": (),
        }
        process.ask({"op": "prepare", "scenarios": _SCENARIOS}, _LIMITS.seconds)
        process.ask(load | {"entry": {"halve": [["x", None, False]]}, "seed": 0}, _LIMITS.seconds)
        play = {"op": "play", "scenario": "canary", "inputs": {"number": 3.0}, "device": device.torch, "budget": None}
        answer = process.ask(play | {"seed": 0}, _LIMITS.seconds)
        process.close()
        value = answer["value"]
        half = value["half"]
        right = isinstance(half, wire.Received) and half.tensor.tolist() == [1.5, 1.5] and half.device == device.torch
        if right and value["grad"] is True and value["files"] == []:
            return True
    except Unavailable:
        return True  # there is nothing to be relied on
    except (SandboxBroken, Stopped, KeyError, TypeError):
        pass
    sandbox.broken = True
    return False
