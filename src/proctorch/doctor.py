"""What this machine can do, found by trying."""

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from proctorch import devices
from proctorch.bank.bank import Bank
from proctorch.bank.question import Limits
from proctorch.errors import ProctorchError

if TYPE_CHECKING:
    from proctorch.judge.supervise import Sandbox


@dataclass(frozen=True)
class Examination:
    """Facts as names and values, and what stands in the way of grading, in words."""

    facts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]


def examine(bank: Path | None) -> Examination:
    """Looks at the packages, the devices, the sandbox and the bank. Never raises for what it finds."""
    from proctorch.judge.supervise import Sandbox  # noqa: PLC0415 - loads subprocess machinery that other commands spare

    facts: list[tuple[str, str]] = []
    problems: list[str] = []

    def fact(name: str, value: str) -> None:
        facts.append((name, value))

    for package in ("proctorch", "torch", "pytest"):
        try:
            fact(package, version(package))
        except PackageNotFoundError:
            problems.append(f"{package} is not installed")
    fact("python", platform.python_version())
    fact("platform", platform.platform())
    try:
        for device in devices.here():
            fact("device", f"{device}: {device.description} ({'real' if device.real else 'simulated'})")
    except ProctorchError as error:
        problems.append(str(error))
    limits = Limits()
    fact("sandbox", "process: a process of its own, no confinement of files or network yet")
    fact("limit", f"{limits.seconds:g} seconds for each scenario, unless the question says otherwise")
    fact("limit", f"output {limits.output >> 20} MiB, unless the question says otherwise")
    try:
        with Sandbox(virtual=True) as sandbox:
            process = sandbox.start(memory=limits.memory, output=limits.output)
            for held in process.limits:
                fact("limit", held)
            process.close()
            fact("virtual", _virtual(sandbox))
    except ProctorchError as error:
        problems.append(str(error))
    try:
        loaded = Bank.load(bank)
        fact("bank", f"{loaded.root}: {len(loaded.questions)} questions, digest {loaded.digest[:12]}")
    except ProctorchError as error:
        problems.append(f"the bank has faults:\n{error}")
    return Examination(tuple(facts), tuple(problems))


def _virtual(sandbox: "Sandbox") -> str:
    """What can be said of the virtual accelerator here, found by starting a job on it."""
    from proctorch.judge.supervise import NoVirtualDevice  # noqa: PLC0415 - as above

    try:
        sandbox.start(memory=None, output=1 << 20, virtual=1 << 20).close()
    except NoVirtualDevice as obstacle:
        return f"not here: {obstacle}"
    return "a simulated CUDA device: real values, CUDA's same-device rule and memory budget; no speed, no races"
