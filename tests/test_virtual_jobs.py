"""Jobs on the virtual accelerator: a device of the plan that is always said to be simulated."""

from pathlib import Path
from typing import Any

import pytest

from proctorch import Bank, Grade, Plan, Submission, Verdict
from proctorch.bank.question import Limits
from proctorch.devices import CPU, VIRTUAL, choose
from proctorch.judge import session
from proctorch.judge.grade import Outcome
from proctorch.judge.sandbox import Sandbox, Unavailable

BANK = Bank.load(Path(__file__).parent / "bank")
#: Answers rightly, and prints what it sees of torch.
WITNESS = b"""
import sys
import torch

def double(x):
    print(x.device, torch.cuda.is_available(), torch.accelerator.is_available(), "proctorch.virtual" in sys.modules)
    return x + x
"""


def graded(**options: Any) -> list[Grade]:
    """The witness's grades on the CPU and on the virtual accelerator."""
    plan = Plan.build(BANK, [Submission("double_it.py", WITNESS)], devices=[CPU, VIRTUAL])
    return session.grade(plan, **options)


@pytest.fixture(scope="module")
def grades() -> list[Grade]:
    """On the CPU, and on the virtual accelerator."""
    return graded(seed=1)


def test_a_job_on_the_cpu_has_no_trace_of_it(grades: list[Grade]) -> None:
    """A job on the CPU sees a torch without an accelerator, beside jobs that have one."""
    assert grades[0].verdict is Verdict.ACCEPTED
    assert set(grades[0].stdout.text.splitlines()) == {"cpu False False False"}


def test_a_job_on_it_sees_a_cuda_device(grades: list[Grade]) -> None:
    """A job on the virtual accelerator sees plain tensors on cuda:0."""
    assert grades[1].verdict is Verdict.ACCEPTED
    assert set(grades[1].stdout.text.splitlines()) == {"cuda:0 True True True"}


def test_it_is_never_called_real(grades: list[Grade]) -> None:
    """A grade says whether its device is real."""
    assert [(grade.device, grade.real) for grade in grades] == [("cpu", True), ("virtual", False)]


def test_where_it_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no virtual accelerator its jobs are not run, with the reason, and others are graded."""
    start = Sandbox.start

    def refuse(self: Sandbox, limits: Limits, *, virtual: int | None = None, **rest: Any) -> Any:
        if virtual is not None:
            raise Unavailable("the virtual device is tested with torch 2.13, and this is torch 9.9")
        return start(self, limits, **rest)

    monkeypatch.setattr(Sandbox, "start", refuse)
    on_cpu, on_virtual = graded()
    assert on_cpu.verdict is Verdict.ACCEPTED
    assert on_virtual.verdict is Verdict.NOT_RUN
    assert on_virtual.reason == "the virtual device is tested with torch 2.13, and this is torch 9.9"
    assert {(check.outcome, check.counted) for check in on_virtual.checks} == {(Outcome.NOT_RUN, False)}


def test_by_default_it_is_beside_a_lone_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a real accelerator the virtual one is used beside the CPU; with one it is not, unless asked for."""
    monkeypatch.setattr("proctorch.devices.here", lambda: (CPU,))
    assert choose(()) == (CPU, VIRTUAL)
    real = type(CPU)("cuda:0", "a real one")
    monkeypatch.setattr("proctorch.devices.here", lambda: (CPU, real))
    assert choose(()) == (CPU, real)
    assert choose(("virtual",)) == (VIRTUAL,)
    assert choose(("cuda",)) == (real,)
