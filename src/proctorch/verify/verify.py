"""Grades every shipped solution, the starter and the junk battery, and says which did not end as it must.

Beside that, two proofs of each check: it is the only one to catch some wrong solution, and it does not take numbers as
coarse as a lower precision gives for right ones.
"""

import enum
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.devices import Device
from proctorch.errors import UsageError
from proctorch.judge.grade import CheckResult, Grade, Outcome, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission
from proctorch.verify.junk import HANG, junk
from proctorch.verify.processes import share

#: A wrong solution that is right elsewhere says on which device types it is wrong: `# only: cpu`.
_ONLY = re.compile(r"^#\s*only:\s*(.+?)\s*$", re.MULTILINE)
_CAUGHT_BY = re.compile(r"^#\s*caught-by:\s*(.+?)\s*$", re.MULTILINE)
#: A hang is stopped after this time, whatever the question allows: that it is stopped is what is proven.
_HANG_SECONDS = 0.5
#: The relative error of a value in bfloat16, which has 8 bits: half a unit in the last place, where that is smallest.
_COARSE = 2.0**-9
#: An error that everything notices that looks at values at all.
_GROSS = 0.5
#: Jobs that are graded together: what is kept of each until the last is done is little, but not nothing.
_BATCH = 500


class Kind(enum.Enum):
    """Where a trial's submission comes from."""

    SOLUTION = "solution"
    STARTER = "starter"
    JUNK = "junk"
    #: A right solution whose floating-point answers are made as coarse as bfloat16's on their way to the checks.
    COARSE = "coarse"
    #: The same with answers that are wrong by half: accepted, too, where nothing looks at such values.
    GROSS = "gross"


@dataclass(frozen=True)
class Trial:
    """One submission on one device, and how it must end."""

    job: Job
    kind: Kind
    #: The one verdict it must get; None for the starter and for junk, which must only not pass, and for the rest.
    expected: Verdict | None
    #: The checks that must not pass.
    caught_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Such as `partial/forgets_labels.py`, `starter`, `junk/zeros` or `coarse/forgets_nothing.py`."""
        path = self.job.submission.path
        match self.kind:
            case Kind.SOLUTION:
                return f"{path.parent.name}/{path.name}"
            case Kind.COARSE | Kind.GROSS:
                return f"{self.kind.value}/{path.name}"
            case Kind.STARTER | Kind.JUNK:
                return str(path)


@dataclass(frozen=True)
class Finding:
    """A trial and what came of it. `problem` is empty if it ended as it must; `skipped`: why it proves nothing here."""

    trial: Trial
    grade: Grade
    problem: str = ""
    skipped: str = ""


@dataclass(frozen=True)
class Unproven:
    """What several trials together do not prove of a check."""

    question: Question
    #: The check, or `self_check`.
    test: str
    problem: str


def plan_trials(questions: Iterable[Question], devices: Iterable[Device], seed: int | None = None) -> list[Trial]:
    """All trials of the questions on the devices, with the hidden inputs of `seed`, or of one that is drawn for all.

    UsageError if a wrong solution does not say what must catch it.
    """
    chosen = tuple(devices)
    drawn = secrets.randbits(53) if seed is None else seed
    trials = (trial for question in questions for device in chosen for trial in _trials(question, device))
    return [_seeded(trial, drawn) for trial in trials]


def plan_stress(questions: Iterable[Question], devices: Iterable[Device], times: int) -> list[Trial]:
    """The shipped solutions in so many rounds on each device, each round with other hidden inputs.

    UsageError if a wrong solution does not say what must catch it.
    """
    once = [trial for trial in plan_trials(questions, devices) if trial.kind is Kind.SOLUTION]
    seeds = [secrets.randbits(53) for _ in range(times)]
    return [_seeded(trial, seed) for trial in once for seed in seeds]


def verify(
    bank: Bank,
    trials: list[Trial],
    *,
    processes: int | None = None,
    on_trial: Callable[[str], None] = lambda _: None,
) -> list[Finding]:
    """Runs the trials, on as many `processes` as there are cores by default, and compares.

    `on_trial` is called with the name of each submission that is done. The findings are in the order of the trials.
    KeyboardInterrupt passes through, with everything that was started ended.
    """
    grades = share(partial(_grade, bank), [trial.job for trial in trials], processes, on_trial)
    return [judge_trial(trial, grade) for trial, grade in zip(trials, grades, strict=True)]


def _grade(bank: Bank, jobs: list[Job], on_done: Callable[[str], None]) -> list[Grade]:
    grades: list[Grade] = []
    for start in range(0, len(jobs), _BATCH):
        grading = Grading(Plan(bank, tuple(jobs[start : start + _BATCH])), trust_submissions=True, details=False)
        grades += grading.run(lambda grade: on_done(Path(grade.submission).name))
    return grades


def unproven(findings: Iterable[Finding]) -> list[Unproven]:
    """What the trials together do not prove, question by question.

    Each check that was made on some device must be the only one to catch some wrong solution on some device. One that
    looks at floating-point numbers must reject a right solution's when they are as coarse as bfloat16's, unless the
    question says why such numbers are right. Of several rounds each must prove it; the first that does not is told.
    """
    rounds: dict[str, dict[int | None, list[Finding]]] = {}
    for finding in findings:
        job = finding.trial.job
        rounds.setdefault(job.question.id, {}).setdefault(job.seed, []).append(finding)
    return [each for of_question in rounds.values() for each in _of_rounds(of_question)]


def _of_rounds(rounds: dict[int | None, list[Finding]]) -> Iterator[Unproven]:
    """What the rounds of one question do not prove, each thing once."""
    found: dict[tuple[str, str], list[tuple[int | None, Unproven]]] = {}
    for seed, findings in rounds.items():
        for prove in (_lone_catches, _coarse):
            for each in prove(findings):
                found.setdefault((prove.__name__, each.test), []).append((seed, each))
    for failed in found.values():
        seed, first = failed[0]
        often = f" ({len(failed)} of {len(rounds)} rounds; seed {seed})" if len(rounds) > 1 else ""
        yield replace(first, problem=first.problem + often)


def _lone_catches(findings: list[Finding]) -> Iterator[Unproven]:
    question = findings[0].trial.job.question
    made = {result.test for finding in findings for result in finding.grade.checks if result.counted}
    wrong = [each for each in findings if each.trial.caught_by and not each.problem and not each.skipped]
    catches = [(finding, catchers(question, finding.grade)) for finding in wrong]
    for check in question.checks:
        mine = [(finding, tests) for finding, tests in catches if check.test in tests]
        if check.test not in made or any(len(tests) == 1 for _, tests in mine):
            continue
        told = f"no wrong solution is caught by {check.test} alone"
        if mine:
            finding, tests = min(mine, key=lambda each: len(each[1]))
            others = ", ".join(each for each in tests if each != check.test)
            told += f" (the nearest, {finding.trial.name} on {finding.grade.device}, is caught by {others} too)"
        yield Unproven(question, check.test, f"{told}; write one that every other check lets pass, or drop the check")


def catchers(question: Question, grade: Grade) -> list[str]:
    """The counted checks that did not pass, without those that were not made since the one they need did not."""
    results = {result.test: result for result in grade.checks if result.counted}
    needs = {check.test: check.needs for check in question.checks}

    def excused(result: CheckResult) -> bool:
        parent = results.get(needs[result.test] or "")
        return result.outcome is Outcome.NOT_RUN and parent is not None and parent.outcome is not Outcome.PASSED

    return [each.test for each in results.values() if each.outcome is not Outcome.PASSED and not excused(each)]


def _coarse(findings: list[Finding]) -> Iterator[Unproven]:
    """A check that rejects numbers that are wrong by half looks at them, and must reject them when they are coarse."""
    question = findings[0].trial.job.question
    of_kind = {
        kind: {each.grade.device: _outcomes(each.grade) for each in findings if each.trial.kind is kind}
        for kind in (Kind.COARSE, Kind.GROSS)
    }
    for check in question.checks:
        looked = [device for device, each in of_kind[Kind.GROSS].items() if each[check.test] is Outcome.FAILED]
        passed = [device for device in looked if of_kind[Kind.COARSE][device][check.test] is Outcome.PASSED]
        if passed and not check.low_precision:
            problem = (
                f"{check.test} passes on {passed[0]} with each number wrong by {_COARSE:.1%}, as in bfloat16; make its"
                " tolerance tighter, or say with `low_precision:`, beside its title, why such numbers are right"
            )
            yield Unproven(question, check.test, problem)


def _outcomes(grade: Grade) -> dict[str, Outcome]:
    return {result.test: result.outcome for result in grade.checks}


def judge_trial(trial: Trial, grade: Grade) -> Finding:
    """Whether a trial ended as it must."""
    if grade.verdict is Verdict.NOT_RUN:
        return Finding(trial, grade, skipped=grade.reason)
    if trial.kind in (Kind.COARSE, Kind.GROSS):
        problem = f"is judge_error ({grade.reason})" if grade.verdict is Verdict.JUDGE_ERROR else ""
        return Finding(trial, grade, problem=problem)  # what the rest proves is told by all of them together
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


def _seeded(trial: Trial, seed: int) -> Trial:
    return replace(trial, job=replace(trial.job, seed=seed))


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
    right = Submission(min(question.solutions.glob("accepted/*.py")))
    for kind, error in ((Kind.COARSE, _COARSE), (Kind.GROSS, _GROSS)):
        yield Trial(Job(question, right, device, error=error), kind, None)


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
