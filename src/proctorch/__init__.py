"""Proctorch, the PyTorch interview proctor: a question bank and an auto-grader for how PyTorch code handles devices.

    from proctorch import Bank, Plan, Submission, grade

    bank = Bank.load()
    plan = Plan.build(bank, [Submission("pick_device.py")], devices=["cpu"])
    for each in grade(plan):
        print(each.verdict, each.reason)

Importing this starts neither torch nor pytest: a name is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctorch.bank.bank import Bank
    from proctorch.bank.question import Question
    from proctorch.devices import Device
    from proctorch.errors import ProctorchError
    from proctorch.judge.grade import Grade, Outcome, Verdict
    from proctorch.judge.plan import Plan
    from proctorch.judge.session import grade
    from proctorch.judge.submission import Submission
    from proctorch.report.report import Report

__all__ = [
    "Bank",
    "Device",
    "Grade",
    "Outcome",
    "Plan",
    "ProctorchError",
    "Question",
    "Report",
    "Submission",
    "Verdict",
    "grade",
]

_HOMES = {
    "Bank": "proctorch.bank.bank",
    "Device": "proctorch.devices",
    "Grade": "proctorch.judge.grade",
    "Outcome": "proctorch.judge.grade",
    "Plan": "proctorch.judge.plan",
    "ProctorchError": "proctorch.errors",
    "Question": "proctorch.bank.question",
    "Report": "proctorch.report.report",
    "Submission": "proctorch.judge.submission",
    "Verdict": "proctorch.judge.grade",
    "grade": "proctorch.judge.session",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - only for a name's first use

    return getattr(importlib.import_module(_HOMES[name]), name)
