"""Jobs on the virtual accelerator: a device of the plan that is always said to be simulated."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from proctorch import Bank, Grade, Plan, Submission, Verdict
from proctorch.bank.question import Limits, Need
from proctorch.devices import CPU, VIRTUAL, Device, choose, here
from proctorch.judge import session
from proctorch.judge.grade import Outcome
from proctorch.judge.plan import Job
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

    def refuse(self: Sandbox, limits: Limits, *, virtual: Sequence[int] | None = None, **rest: Any) -> Any:
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


@pytest.fixture(scope="module")
def for_two(tmp_path_factory: pytest.TempPathFactory) -> list[Job]:
    """One check that asks for any device and one that needs two accelerators: on the CPU, one GPU, one of two, virtual.

    Each plays a scenario that makes the last device current, and then one that tells count and current index.
    """
    root = tmp_path_factory.mktemp("bank")
    tiny = BANK.questions[0]
    any_, two = tiny.checks[0], replace(tiny.checks[2], device=Need.TWO)
    question = replace(tiny, id="two", topic="t", path=root / "questions" / "t" / "two.yaml", checks=(any_, two))
    question.grader.mkdir(parents=True)
    question.scenarios.write_text(
        dedent("""
        import torch

        def leaves(candidate, device, probe):
            torch.accelerator.set_device_index(torch.accelerator.device_count() - 1)
            return str(torch.ones(1, device="cuda").device)

        def looks(candidate, device, probe):
            return [torch.accelerator.device_count(), str(torch.ones(1, device="cuda").device)]
        """)
    )
    question.tests.write_text(
        dedent("""
        def test_values(run):
            pass

        def test_place(run):
            assert run("leaves").get() == "cuda:1", "the last is not cuda:1"
            assert run("looks").get() == [2, "cuda:0"], "another count, or another current device"
        """)
    )
    places = (CPU, Device("cuda:0", "a real one"), Device("cuda:1", "one of two", count=2), VIRTUAL)
    return [Job(question, Submission("two.py", b"def double(x):\n    return x\n"), place) for place in places]


def test_a_job_that_needs_two_has_two(for_two: list[Job]) -> None:
    """A check that needs two accelerators has two virtual ones. Each scenario begins with the first as the current."""
    [grade] = session.grade(Plan(BANK, (for_two[3],)), seed=1)
    assert [(check.outcome, check.reason) for check in grade.checks] == [(Outcome.PASSED, "")] * 2


def test_a_job_that_needs_one_has_one() -> None:
    """A job of which no check needs two accelerators has one."""
    question = BANK.questions[0]
    assert question.accelerators == 1
    source = b"import torch\n\ndef double(x):\n    print(torch.accelerator.device_count())\n    return x * 2\n"
    plan = Plan(BANK, (Job(question, Submission("double_it.py", source), VIRTUAL),))
    assert set(session.grade(plan, seed=1)[0].stdout.text.splitlines()) == {"1"}


def test_two_accelerators_are_not_asked_of_a_machine_with_one(for_two: list[Job]) -> None:
    """Without a second accelerator of its kind the check is not made, with the reason; the others are."""
    reason = "needs two accelerators of one kind, such as cuda:0 and cuda:1"
    told = [[job.not_asked(check) for check in job.question.checks] for job in for_two]
    assert told == [[None, reason], [None, reason], [None, None], [None, None]]


def test_real_devices_are_counted_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each real device knows how many of its kind can be used here; one that fails is not counted."""

    class Answer:
        stdout = '[["cuda:0", "a"], ["cuda:1", "b"], ["cuda:?", "unusable"], ["xpu:0", "c"]]\n'

    monkeypatch.setattr("proctorch.devices.glob.glob", lambda pattern: ["/dev/nvidia0"])
    monkeypatch.setattr("proctorch.devices.subprocess.run", lambda *_, **__: Answer)
    assert [(device.name, device.count) for device in here()] == [
        ("cpu", 1),
        ("cuda:0", 2),
        ("cuda:1", 2),
        ("xpu:0", 1),
    ]
