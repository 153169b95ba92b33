"""Devices: which real ones are here, and what a job may run on."""

import contextlib
import glob
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proctorch.bank.question import Need
from proctorch.errors import ProctorchError, UsageError

_KNOWN = ("cpu", "cuda", "mps", "xpu", "virtual")
_ASK_SECONDS = 120.0
#: Device nodes without which no accelerator's driver can work on Linux: NVIDIA, AMD, Intel.
_NODES = ("/dev/nvidia[0-9]*", "/dev/kfd", "/dev/dri/render*", "/dev/dxg")

# A fork server must not touch a driver, and a judge has no need to: another process asks, and ends.
_ASK = """
import json, platform, torch
found = []
for kind in ("cuda", "xpu", "mps"):
    api = getattr(torch, kind, None)
    try:
        count = api.device_count() if api is not None and api.is_available() else 0
        for index in range(count):
            name = api.get_device_name(index) if hasattr(api, "get_device_name") else platform.processor()
            torch.ones(1, device=f"{kind}:{index}").add_(1)
            found.append([f"{kind}:{index}", name])
    except Exception as error:
        found.append([f"{kind}:?", f"unusable: {error}"])
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Device:
    """Where a job runs. `name` is torch's (`cpu`, `cuda:0`, `mps`), or `virtual`; `description` is for people.

    `count` is how many of its kind a job sees here, itself included.
    """

    name: str
    description: str
    real: bool = True
    count: int = 1

    def __str__(self) -> str:
        return self.name

    @property
    def torch(self) -> str:
        """The name that torch knows it by in a job: `cuda:0` for the virtual accelerator."""
        return "cuda:0" if self.name == "virtual" else self.name

    @property
    def type(self) -> str:
        """`cpu`, `cuda`, `mps`, `xpu`, or `virtual`."""
        return self.name.partition(":")[0]

    @property
    def real_accelerator(self) -> bool:
        """Whether it is an accelerator that is not simulated."""
        return self.real and self.type != "cpu"

    @property
    def index(self) -> int | None:
        number = self.name.partition(":")[2]
        return int(number) if number else None


CPU = Device("cpu", "the processor")
#: A job that needs two of it has two.
VIRTUAL = Device("virtual", "the virtual accelerator, a simulated CUDA device", real=False, count=2)


def here() -> tuple[Device, ...]:
    """Every real device of this machine that works, the CPU first, asked in a child: none is initialised here.

    Where the system has no accelerator's device node at all, nobody is asked: that saves importing torch.
    """
    if sys.platform == "linux" and not any(glob.glob(pattern) for pattern in _NODES):  # noqa: PTH207 - absolute patterns
        return (CPU,)
    try:
        answer = subprocess.run(  # noqa: S603 - our own interpreter and text
            [sys.executable, "-I", "-c", _ASK], capture_output=True, timeout=_ASK_SECONDS, check=True, text=True
        )
        found = [(str(name), str(told)) for name, told in json.loads(answer.stdout.splitlines()[-1])]
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        raise ProctorchError(f"torch could not be asked for this machine's devices: {error}") from None
    found = [(name, told) for name, told in found if not name.endswith("?")]
    kinds = [name.partition(":")[0] for name, _ in found]
    return (
        CPU,
        *(Device(name, told, count=kinds.count(kind)) for (name, told), kind in zip(found, kinds, strict=True)),
    )


def choose(names: tuple[str, ...]) -> tuple[Device, ...]:
    """The devices that the user asked for. UsageError, with what is here, for one that is not.

    By default every real device, and the virtual accelerator beside a CPU that is alone.
    """
    if names and set(names) <= {"cpu", "virtual"}:
        return tuple({"cpu": CPU, "virtual": VIRTUAL}[name] for name in dict.fromkeys(names))
    real = here()
    present = real if len(real) > 1 else (CPU, VIRTUAL)
    if not names:
        return present
    present = tuple(dict.fromkeys((*present, VIRTUAL)))
    chosen: list[Device] = []
    for name in names:
        fitting = [device for device in present if name in (device.name, device.type)]
        if not fitting:
            known = "" if name.partition(":")[0] in _KNOWN else f" (device types are {', '.join(_KNOWN)})"
            raise UsageError(f"no device {name!r} here{known}; this machine has {', '.join(map(str, present))}")
        chosen.append(fitting[0])
    return tuple(dict.fromkeys(chosen))


def cuda_nodes() -> tuple[str, ...]:
    """The device nodes that CUDA's driver works through."""
    return tuple(sorted(glob.glob("/dev/nvidia*")))  # noqa: PTH207 - an absolute pattern


@contextlib.contextmanager
def held(device: Device) -> Iterator[None]:
    """Keeps a real accelerator for this process: waits until no other Proctorch on this machine holds it."""
    if not device.real_accelerator:
        yield
        return
    import fcntl  # noqa: PLC0415 - absent on Windows

    path = Path(tempfile.gettempdir(), f"proctorch-{device.name.replace(':', '-')}.lock")
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ProctorchError(f"{path}: cannot be opened to hold {device} with: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def unmet(need: Need, device: Device) -> str | None:
    """Why the device does not give what is needed, or None if it does."""
    if need is Need.SECOND and device.type == "cpu":
        return "needs a second device beside the CPU"
    if need is Need.BUDGET and device.type == "cpu":
        return "needs a second device beside the CPU, with a limit on its memory"
    if need is Need.TWO and (device.type == "cpu" or device.count < 2):
        return "needs two accelerators of one kind, such as cuda:0 and cuda:1"
    return None
