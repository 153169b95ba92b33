"""A question as frozen data. Nothing here reads or writes a file."""

import enum
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


class QuestionType(enum.Enum):
    """What the candidate is asked to do."""

    CODE_FIX = "code-fix"
    IMPLEMENT = "implement"
    PREDICT = "predict"
    EXPLAIN = "explain"


class Need(enum.Enum):
    """What the hidden checks need of the machine."""

    #: Any device will do, the CPU included.
    ANY = "any"
    #: A second device beside the CPU.
    SECOND = "second"
    #: A second device whose memory can be limited to a budget.
    BUDGET = "budget"
    #: Two accelerators of one kind, such as cuda:0 and cuda:1.
    TWO = "two"


@dataclass(frozen=True)
class Parameter:
    """One parameter of an entry point. `default` is the source of its default value, None if it must be given."""

    name: str
    default: str | None = None
    keyword_only: bool = False


@dataclass(frozen=True)
class EntryPoint:
    """A function or class that the submission must define, and how it is called."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def signature(self) -> str:
        """As it is written in a `def` line, such as `pick_device(prefer=None, *, strict=False)`."""
        parts: list[str] = []
        for parameter in self.parameters:
            if parameter.keyword_only and "*" not in parts:
                parts.append("*")
            parts.append(parameter.name if parameter.default is None else f"{parameter.name}={parameter.default}")
        return f"{self.name}({', '.join(parts)})"


@dataclass(frozen=True)
class Limits:
    """What a submission may use. Sizes are bytes."""

    #: By the clock, for each played scenario, not counting those in line for a core.
    seconds: float = 10.0
    #: Of CPU time, for the whole job on one device.
    cpu: float = 60.0
    #: Of the whole job, beyond what Python and torch take.
    memory: int = 2 << 30
    #: Printed, for the whole job.
    output: int = 4 << 20
    #: Beside the job's own: 0 for none, more for DataLoader's workers. Counted together with threads.
    processes: int = 0
    #: Beside the first.
    threads: int = 64
    #: Of the job's files together, and of each.
    disk: int = 64 << 20
    open_files: int = 256


@dataclass(frozen=True)
class Check:
    """One graded demand: one pytest function in the question's grader."""

    #: The pytest function that decides, `test_…`.
    test: str
    #: The line that a candidate sees.
    title: str
    #: At least 0; exact.
    points: Fraction
    #: Help in stages, the gentlest first. Shown on demand, or after a failure in practice.
    hints: tuple[str, ...] = ()
    #: Another check's `test`: this one is NOT_RUN if that one does not pass.
    needs: str | None = None
    #: Device types (`cpu`, `cuda`, …) on which the check is made; empty means all.
    only: tuple[str, ...] = ()
    #: What it needs of the machine: its own demand, or the question's.
    device: Need = Need.ANY
    #: Why numbers as coarse as bfloat16's pass it, although it rejects those that are wrong by half; else empty.
    low_precision: str = ""


@dataclass(frozen=True)
class Mistake:
    """A common wrong answer: what people do, why it fails, and the check that catches it."""

    mistake: str
    why: str
    #: The `test` of a check of the same question, or None for a mistake that is only spoken about.
    caught_by: str | None = None


@dataclass(frozen=True)
class FollowUp:
    """A question to ask next, with a short right answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Rubric:
    """How to score an oral answer; `probes` are said when the candidate stalls."""

    strong: str
    passing: str
    weak: str
    probes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Card:
    """The interview card: what an interviewer holds."""

    question: str
    in_depth: tuple[str, ...]
    scenario: str
    mistakes: tuple[Mistake, ...]
    follow_ups: tuple[FollowUp, ...]
    related: tuple[str, ...]
    rubric: Rubric


@dataclass(frozen=True)
class Question:
    """One exercise of a bank. Its id and topic are its file's name and folder."""

    id: str
    topic: str
    #: The YAML file.
    path: Path
    #: Its number in the list of questions, such as `MF1`, or None.
    code: str | None
    title: str
    type: QuestionType
    #: 1 (first week) to 5 (expert).
    difficulty: int
    minutes: int
    tags: tuple[str, ...]
    #: What its checks need, where they do not say otherwise.
    device: Need
    #: Markdown.
    prompt: str
    #: Python source: runs, and does not pass.
    starter: str
    #: Python source: pytest functions without parameters that try what the prompt shows. A candidate gets them. May be
    #: empty.
    self_check: str
    entry: tuple[EntryPoint, ...]
    limits: Limits
    #: Bytes of the accelerator where `device` is BUDGET, else None.
    budget: int | None
    checks: tuple[Check, ...]
    card: Card
    sources: tuple[str, ...]

    @property
    def module(self) -> str:
        """The id as a Python module name: `first-step` is handed in as `first_step.py`."""
        return self.id.replace("-", "_")

    @property
    def points(self) -> Fraction:
        """The sum over all checks."""
        return sum((check.points for check in self.checks), Fraction(0))

    @property
    def accelerators(self) -> int:
        """How many of one kind a job has, where they are simulated: 2 if a check needs so many."""
        return 2 if any(check.device is Need.TWO for check in self.checks) else 1

    @property
    def grader(self) -> Path:
        """The folder with `scenarios.py` and the hidden checks."""
        return self.path.parents[2] / "graders" / self.topic / self.id

    @property
    def scenarios(self) -> Path:
        """What is tried, beside the candidate's code."""
        return self.grader / "scenarios.py"

    @property
    def tests(self) -> Path:
        """What is demanded: the hidden pytest file."""
        return self.grader / f"test_{self.module}.py"

    @property
    def solutions(self) -> Path:
        """The folder of shipped solutions, one folder inside it for each expected verdict."""
        return self.path.parents[2] / "solutions" / self.topic / self.id
