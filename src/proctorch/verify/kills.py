"""Plays the mutants of every accepted solution, and counts those that the grader rejects: its kills.

A mutant is played on one device after another, until one kills it.
"""

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from proctorch.bank.bank import Bank
from proctorch.bank.equivalent import EQUIVALENT, read_equivalent
from proctorch.bank.question import Question
from proctorch.devices import Device
from proctorch.judge.grade import Grade, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission
from proctorch.verify.mutants import Mutant, mutants
from proctorch.verify.processes import share
from proctorch.verify.verify import plan_trials

#: Of a question's mutants, and of a whole bank's, the equivalent ones left out.
LEAST_KILLED = 0.97
LEAST_KILLED_OF_ALL = 0.99
MOST_EQUIVALENT = 0.15
#: A mutant may take so many times what its original took, and always this many seconds: endless loops are cheap so.
_TIMES, _SECONDS = 5, 1.0


class Fate(enum.Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    #: It survived, and is declared to be right.
    EQUIVALENT = "equivalent"
    #: The grader or the machine broke, or no device could be asked: that proves nothing.
    PROBLEM = "problem"


@dataclass(frozen=True)
class Played:
    """A mutant and what became of it. `told`: the device and the verdict that decided, or what went wrong."""

    solution: str
    mutant: Mutant
    fate: Fate
    told: str = ""

    @property
    def place(self) -> str:
        """Such as `accepted/add.py:7`."""
        return f"accepted/{self.solution}:{self.mutant.line}"


@dataclass(frozen=True)
class Kills:
    """All mutants of a question's accepted solutions."""

    question: Question
    played: tuple[Played, ...]
    #: Solutions that are not accepted as they are, entries of equivalent.yaml that are of no use: a line each.
    faults: tuple[str, ...] = ()

    def count(self, fate: Fate) -> int:
        return sum(each.fate is fate for each in self.played)

    def of(self, fate: Fate) -> list[Played]:
        return [each for each in self.played if each.fate is fate]

    @property
    def rate(self) -> float:
        """The killed part of those that are not equivalent, 0 to 1; 1 if there are none."""
        return Total.of([self]).rate

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the grader is not good enough, or why that is not known: a line each. Empty if it is."""
        found = [*self.faults, *(f"{each.place}: {each.mutant.name}: {each.told}" for each in self.of(Fate.PROBLEM))]
        if self.rate < LEAST_KILLED:
            found.append(f"kills {self.rate:.1%} of its mutants; at least {LEAST_KILLED:.0%} are wanted")
        if self.count(Fate.EQUIVALENT) > MOST_EQUIVALENT * len(self.played):
            told = f"{self.count(Fate.EQUIVALENT)} of {len(self.played)} mutants are declared equivalent"
            found.append(f"{told}; at most {MOST_EQUIVALENT:.0%} may be")
        return tuple(found)


@dataclass(frozen=True)
class Total:
    """The mutants of a whole bank."""

    mutants: int
    killed: int
    equivalent: int

    @classmethod
    def of(cls, kills: Iterable[Kills]) -> "Total":
        """The sum over the questions."""
        each = [(len(one.played), one.count(Fate.KILLED), one.count(Fate.EQUIVALENT)) for one in kills]
        return cls(*(sum(column) for column in zip(*each, strict=True))) if each else cls(0, 0, 0)

    @property
    def rate(self) -> float:
        """The killed part of those that are not equivalent, 0 to 1; 1 if there are none."""
        asked = self.mutants - self.equivalent
        return self.killed / asked if asked else 1.0

    @property
    def problem(self) -> str:
        """Why the graders together are not good enough; empty if they are."""
        if self.rate >= LEAST_KILLED_OF_ALL:
            return ""
        told = f"all questions together kill {self.rate:.1%} of their mutants"
        return f"{told}; at least {LEAST_KILLED_OF_ALL:.0%} are wanted"


@dataclass(frozen=True)
class _Task:
    """A mutant, and the jobs that it is played in, one for each device."""

    question: Question
    solution: str
    mutant: Mutant
    jobs: tuple[Job, ...]


@dataclass
class _Verdicts:
    """What a task's devices said so far."""

    fate: Fate | None = None
    told: str = ""

    def add(self, device: Device, verdict: Verdict, reason: str) -> None:
        """The gravest stays: a kill, then a problem, then survival; NOT_RUN counts only if there is nothing else."""
        if verdict is Verdict.NOT_RUN:
            self.told = self.told or reason
        elif verdict is Verdict.JUDGE_ERROR:
            self.fate, self.told = Fate.PROBLEM, f"{device}: judge error: {reason}"
        elif verdict is not Verdict.ACCEPTED:
            self.fate, self.told = Fate.KILLED, f"{device}: {verdict.value}"
        elif self.fate is None:
            self.fate, self.told = Fate.SURVIVED, f"{device}: accepted"


def kill(
    bank: Bank,
    questions: Iterable[Question],
    devices: Sequence[Device],
    *,
    processes: int | None = None,
    on_total: Callable[[int], None] = lambda _: None,
    on_mutant: Callable[[str], None] = lambda _: None,
) -> list[Kills]:
    """Plays every mutant of the questions' accepted solutions, on as many `processes` as there are cores by default.

    `on_total` is told how many there are, `on_mutant` the file of each that is decided. BankError for a faulty
    equivalent.yaml. KeyboardInterrupt passes through, with everything that was started ended.
    """
    chosen = list(questions)
    declared = {
        question.id: {(each.solution, each.mutant): each for each in read_equivalent(question)} for question in chosen
    }
    originals = [trial for trial in plan_trials(chosen, devices) if trial.expected is Verdict.ACCEPTED]
    jobs = tuple(trial.job for trial in originals)
    grades = Grading(Plan(bank, jobs), trust_submissions=True, details=False).run()
    faults: dict[str, list[str]] = {question.id: [] for question in chosen}
    jobs_of: dict[tuple[str, str], list[Job]] = {}
    for job, grade in zip(jobs, grades, strict=True):
        name = job.submission.path.name
        if grade.verdict is Verdict.ACCEPTED:
            seconds = min(job.question.limits.seconds, max(_SECONDS, _TIMES * grade.seconds))
            hurried = replace(job.question, limits=replace(job.question.limits, seconds=seconds))
            jobs_of.setdefault((job.question.id, name), []).append(replace(job, question=hurried))
        elif grade.verdict is not Verdict.NOT_RUN:
            faults[job.question.id].append(f"accepted/{name} itself is {grade.verdict.value} on {job.device}")
    by_id = {question.id: question for question in chosen}
    tasks = [
        _Task(by_id[question_id], name, mutant, tuple(_job(job, mutant) for job in each))
        for (question_id, name), each in jobs_of.items()
        for mutant in mutants(each[0].submission.text)
    ]
    on_total(len(tasks))
    results = share(partial(_play, bank), tasks, processes, on_mutant)
    kills = []
    for question in chosen:
        mine = [(task, result) for task, result in zip(tasks, results, strict=True) if task.question is question]
        played, said = _with_equivalents(mine, declared[question.id])
        kills.append(Kills(question, tuple(played), (*faults[question.id], *said)))
    return kills


def _job(job: Job, mutant: Mutant) -> Job:
    given = job.submission
    return replace(job, submission=Submission(given.path, mutant.source.encode(), given.helpers))


def _with_equivalents(
    results: list[tuple[_Task, _Verdicts]], declared: dict[tuple[str, str], Any]
) -> tuple[list[Played], list[str]]:
    played: list[Played] = []
    faults: list[str] = []
    left = dict(declared)
    for task, result in results:
        entry = left.pop((task.solution, task.mutant.name), None)
        fate = result.fate or Fate.PROBLEM
        if entry and fate is Fate.SURVIVED:
            fate = Fate.EQUIVALENT
        elif entry and fate is Fate.KILLED:
            told = f"is killed ({result.told}); remove the entry"
            faults.append(f"{EQUIVALENT}:{entry.line}: {entry.solution}: {entry.mutant}: {told}")
        played.append(Played(task.solution, task.mutant, fate, result.told))
    for entry in left.values():
        told = "matches no mutant any more; remove the entry, or name the mutant anew"
        faults.append(f"{EQUIVALENT}:{entry.line}: {entry.solution}: {entry.mutant}: {told}")
    return played, faults


def _play(bank: Bank, tasks: list[_Task], on_done: Callable[[str], None]) -> list[_Verdicts]:
    """Device by device, each with those that no earlier one has killed."""
    results = [_Verdicts() for _ in tasks]
    left = list(range(len(tasks)))
    for turn in range(max(len(task.jobs) for task in tasks)):
        asked = [index for index in left if len(tasks[index].jobs) > turn]
        jobs = tuple(tasks[index].jobs[turn] for index in asked)

        def told(grade: Grade) -> None:
            if grade.verdict not in (Verdict.ACCEPTED, Verdict.NOT_RUN):
                on_done(Path(grade.submission).name)

        grades = Grading(Plan(bank, jobs), trust_submissions=True, details=False).run(told)
        for index, job, grade in zip(asked, jobs, grades, strict=True):
            results[index].add(job.device, grade.verdict, grade.reason)
        left = [index for index in left if results[index].fate is not Fate.KILLED]
    for index in left:
        on_done(tasks[index].solution)
    return results
