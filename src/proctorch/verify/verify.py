"""Grades every shipped solution, the starter and the junk battery, and says which did not end as it must."""

import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.devices import Device
from proctorch.errors import UsageError
from proctorch.judge.grade import Grade, Outcome, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission
from proctorch.verify.junk import HANG, junk

#: A wrong solution that is right elsewhere says on which device types it is wrong: `# only: cpu`.
_ONLY = re.compile(r"^#\s*only:\s*(.+?)\s*$", re.MULTILINE)
_CAUGHT_BY = re.compile(r"^#\s*caught-by:\s*(.+?)\s*$", re.MULTILINE)
#: A hang is stopped after this time, whatever the question allows: that it is stopped is what is proven.
_HANG_SECONDS = 1.0


class Kind(enum.Enum):
    """Where a trial's submission comes from."""

    SOLUTION = "solution"
    STARTER = "starter"
    JUNK = "junk"


@dataclass(frozen=True)
class Trial:
    """One submission on one device, and how it must end."""

    job: Job
    kind: Kind
    #: The one verdict it must get; None for the starter and for junk, which must only not pass.
    expected: Verdict | None
    #: The checks that must not pass.
    caught_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Such as `partial/forgets_labels.py`, `starter` or `junk/zeros`."""
        path = self.job.submission.path
        return f"{path.parent.name}/{path.name}" if self.kind is Kind.SOLUTION else str(path)


@dataclass(frozen=True)
class Finding:
    """A trial and what came of it. `problem` is empty if it ended as it must; `skipped`: why it proves nothing here."""

    trial: Trial
    grade: Grade
    problem: str = ""
    skipped: str = ""


@dataclass(frozen=True)
class Unproven:
    """A check that no shipped wrong solution is caught by."""

    question: Question
    test: str
    problem: str


def plan_trials(questions: Iterable[Question], devices: Iterable[Device]) -> list[Trial]:
    """All trials of the questions on the devices. UsageError if a wrong solution does not say what must catch it."""
    chosen = tuple(devices)
    return [trial for question in questions for device in chosen for trial in _trials(question, device)]


def verify(bank: Bank, trials: list[Trial], on_grade: Callable[[Grade], None] = lambda _: None) -> list[Finding]:
    """Runs the trials, calling `on_grade` after each, and compares. The findings are in the order of the trials."""
    grades = Grading(Plan(bank, tuple(trial.job for trial in trials)), trust_submissions=True).run(on_grade)
    return [judge_trial(trial, grade) for trial, grade in zip(trials, grades, strict=True)]


def unproven(findings: Iterable[Finding]) -> list[Unproven]:
    """The checks that no wrong solution names as its catcher, among those that were made on some device."""
    caught: dict[str, set[str]] = {}
    made: dict[str, dict[str, Question]] = {}
    for finding in findings:
        question = finding.trial.job.question
        tests = {result.test: question for result in finding.grade.checks if result.counted}
        made.setdefault(question.id, {}).update(tests)
        caught.setdefault(question.id, set()).update(finding.trial.caught_by)
    return [
        Unproven(question, test, f"no wrong solution says `# caught-by: {test}`")
        for name, tests in made.items()
        for test, question in tests.items()
        if test not in caught[name]
    ]


def judge_trial(trial: Trial, grade: Grade) -> Finding:
    """Whether a trial ended as it must."""
    if grade.verdict is Verdict.NOT_RUN:
        return Finding(trial, grade, skipped=grade.reason)
    if trial.expected is None:
        return Finding(trial, grade, problem=_must_not_pass(trial, grade))
    results = {result.test: result for result in grade.checks}
    unasked = [test for test in trial.caught_by if not results[test].counted]
    if unasked:
        return Finding(trial, grade, skipped=f"{unasked[0]} is not made on {grade.device}")
    if grade.verdict is not trial.expected:
        because = f" ({grade.reason})" if grade.reason else ""
        problem = f"is {grade.verdict.value}{because}, not {trial.expected.value}"
        return Finding(trial, grade, problem=problem)
    missed = [test for test in trial.caught_by if results[test].outcome is Outcome.PASSED]
    if missed:
        return Finding(trial, grade, problem=f"is not caught by {', '.join(missed)}")
    return Finding(trial, grade)


def _must_not_pass(trial: Trial, grade: Grade) -> str:
    if grade.verdict in (Verdict.ACCEPTED, Verdict.JUDGE_ERROR):
        return f"is {grade.verdict.value} ({grade.reason or 'every check passed'})"
    if trial.kind is Kind.STARTER and grade.verdict is Verdict.INVALID:
        return f"does not run: {grade.reason}"
    return ""


def _trials(question: Question, device: Device) -> Iterable[Trial]:
    for path in sorted(question.solutions.glob("*/*.py")):
        submission, expected = Submission(path), Verdict(path.parent.name)
        if (only := _ONLY.search(submission.text)) and device.type not in re.split(r"\s*,\s*", only[1]):
            continue
        caught_by = _caught_by(question, submission) if expected is not Verdict.ACCEPTED else ()
        yield Trial(Job(question, submission, device), Kind.SOLUTION, expected, caught_by)
    starter = Submission("starter", question.starter.encode())
    yield Trial(Job(question, starter, device), Kind.STARTER, None)
    for name, source in junk(question):
        hurried = replace(question, limits=replace(question.limits, seconds=_HANG_SECONDS))
        asked = hurried if name == HANG else question
        yield Trial(Job(asked, Submission(f"junk/{name}", source), device), Kind.JUNK, None)


def _caught_by(question: Question, submission: Submission) -> tuple[str, ...]:
    named = _CAUGHT_BY.search(submission.text)
    if not named:
        raise UsageError(f"{submission.path}:1:1: say which check must catch it, in a line `# caught-by: test_…`")
    tests = tuple(each.strip() for each in named[1].split(","))
    known = {check.test for check in question.checks}
    if unknown := [test for test in tests if test not in known]:
        line = submission.text[: named.start()].count("\n") + 1
        raise UsageError(f"{submission.path}:{line}:1: the question has no check {unknown[0]}")
    return tests
