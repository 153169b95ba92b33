"""What this machine can do, found by trying."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from proctorch import devices
from proctorch.bank.bank import Bank
from proctorch.bank.question import Limits
from proctorch.errors import ProctorchError

if TYPE_CHECKING:
    from proctorch.judge.sandbox import Sandbox


@dataclass(frozen=True)
class Examination:
    """Facts as names and values, and what stands in the way of grading, in words."""

    facts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]


def examine(bank: Path | None) -> Examination:
    """Looks at the packages, the devices, the sandbox and the bank. Never raises for what it finds."""
    from proctorch.judge.sandbox import Sandbox  # noqa: PLC0415 - loads subprocess machinery that other commands spare

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
    try:
        with Sandbox(virtual=True) as sandbox:
            facts += _sandbox(sandbox)
    except ProctorchError as error:
        problems.append(str(error))
    try:
        loaded = Bank.load(bank)
        fact("bank", f"{loaded.root}: {len(loaded.questions)} questions, digest {loaded.digest[:12]}")
    except ProctorchError as error:
        problems.append(f"the bank has faults:\n{error}")
    return Examination(tuple(facts), tuple(problems))


def _sandbox(sandbox: "Sandbox") -> Iterator[tuple[str, str]]:
    """The tier, its layers, and the limits that a job is really held to where its question sets no others."""
    strength, limits = sandbox.strength, Limits()
    yield "sandbox", f"tier {strength.tier.value}: {strength.tier.meaning}"
    for layer, what in strength.layers.items():
        yield f"layer {layer}", what
    for layer, why in strength.missing.items():
        yield f"layer {layer}", f"missing: {why}"
    yield "limit", f"{limits.seconds:g} seconds for each scenario"
    yield "limit", f"output {limits.output >> 20} MiB"
    process = sandbox.start(limits)
    process.close()
    for held in process.limits:
        yield "limit", held
    yield "virtual", _virtual(sandbox)


def _virtual(sandbox: "Sandbox") -> str:
    """What can be said of the virtual accelerator here, found by starting a job on it."""
    from proctorch.judge.sandbox import Unavailable  # noqa: PLC0415 - as above

    try:
        sandbox.start(Limits(), virtual=(1 << 20,)).close()
    except Unavailable as obstacle:
        return f"not here: {obstacle}"
    return "a simulated CUDA device: real values, CUDA's same-device rule and memory budget; no speed, no races"
