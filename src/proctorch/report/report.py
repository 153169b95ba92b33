"""The report: grades and where they were made, numbered, so that an old file can always be told from a new one.

A report stands alone. It holds what it needs of its questions, so that a saved one is shown on a machine without the
bank and without torch.
"""

import dataclasses
import enum
import importlib
import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from proctorch.bank.question import Card, Question
from proctorch.errors import ProctorchError, UsageError
from proctorch.files import cause, check_folder, replace_file
from proctorch.judge.grade import CheckResult, Flag, Grade, Verdict

SCHEMA = 2

#: Bytes. A larger file is no report of ours, and reading it would exhaust the memory.
LARGEST_FILE = 256 << 20

#: The module that writes a report under each suffix: it has `render(report) -> str`, and is imported when asked for.
_WRITERS = {".html": "proctorch.report.html", ".json": "proctorch.report.json"}


class Audience(enum.Enum):
    """Whom a report is for."""

    #: No test code, no expected value, no interview card, no flags, no seed.
    CANDIDATE = "candidate"
    #: Everything.
    INTERVIEWER = "interviewer"


@dataclass(frozen=True)
class DeviceInfo:
    """A device that jobs ran on. `real` is False for a simulated one."""

    name: str
    description: str
    real: bool


@dataclass(frozen=True)
class Environment:
    """Where and how the grades were made."""

    torch: str
    devices: tuple[DeviceInfo, ...]
    #: The sandbox tier: `full`, `kernel` or `process`.
    sandbox: str
    #: Each limit that was really enforced, in words: `10 s per scenario`.
    limits: tuple[str, ...]
    bank: str
    bank_digest: str
    #: What hidden inputs were drawn from; None in the candidate's view, since the inputs can be rebuilt from it.
    seed: int | None = None
    python: str = field(default_factory=platform.python_version)
    platform: str = field(default_factory=platform.platform)


@dataclass(frozen=True)
class AskedCheck:
    """A check as it was asked. `test` is empty in the candidate's view."""

    test: str
    title: str
    points: Fraction
    hints: tuple[str, ...]


@dataclass(frozen=True)
class AskedQuestion:
    """What a report keeps of a question. `card` is None in the candidate's view."""

    id: str
    topic: str
    code: str | None
    title: str
    #: As in the question's YAML: `code-fix`, `implement`, …
    type: str
    difficulty: int
    minutes: int
    #: Markdown.
    prompt: str
    #: The entry points as they are called: `pick_device(prefer=None)`.
    entry: tuple[str, ...]
    checks: tuple[AskedCheck, ...]
    card: Card | None

    def hints(self, result: CheckResult) -> tuple[str, ...]:
        """The hints for the check of `result`, by test where its name is known, else by title."""
        test = result.test.partition("[")[0]
        for check in self.checks:
            if (check.test == test) if test else (check.title == result.title):
                return check.hints
        return ()


@dataclass(frozen=True)
class Attempt:
    """One submission to one question, with its grade on each device it was graded on (at least one)."""

    question: str
    submission: str
    source: str
    grades: tuple[Grade, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """How the submission was read, a line each."""
        return tuple(dict.fromkeys(note for grade in self.grades for note in grade.notes))

    @property
    def verdict(self) -> Verdict:
        """The gravest of its grades' verdicts."""
        return max((grade.verdict for grade in self.grades), key=lambda verdict: verdict.severity)

    @property
    def flags(self) -> tuple[Flag, ...]:
        """What in the source deserves a look; its grades say the same, since it is one source."""
        return tuple(dict.fromkeys(flag for grade in self.grades for flag in grade.flags))

    @property
    def earned(self) -> Fraction:
        """Points over all devices whose grade is scored."""
        return _earned(self.grades)

    @property
    def possible(self) -> Fraction:
        """Points that could be earned on those devices."""
        return _possible(self.grades)


@dataclass(frozen=True)
class Report:
    """Grades, the questions they answer, and the environment they were made in."""

    environment: Environment
    #: By id: every question that a grade is about.
    questions: Mapping[str, AskedQuestion]
    grades: tuple[Grade, ...]
    audience: Audience
    #: UTC, whole seconds.
    created: datetime
    #: The version of Proctorch that graded.
    proctorch: str
    schema: int = SCHEMA

    @classmethod
    def collect(
        cls,
        grades: Iterable[Grade],
        *,
        questions: Iterable[Question],
        environment: Environment,
        created: datetime | None = None,
    ) -> "Report":
        """The whole report, for the interviewer. Questions that no grade is about are left out.

        `created` is now, unless given. A grade of a question that is not among `questions` is a ProctorchError.
        """
        kept = tuple(grades)
        offered = {question.id: question for question in questions}
        asked = dict.fromkeys(grade.question for grade in kept)
        for name in asked:
            if name not in offered:
                raise ProctorchError(f"there is a grade of {name!r}, but no such question was given to the report")
        return cls(
            environment=environment,
            questions={name: _asked(offered[name]) for name in asked},
            grades=kept,
            audience=Audience.INTERVIEWER,
            created=(created or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0),
            proctorch=_version(),
        )

    @classmethod
    def read(cls, path: Path | str) -> "Report":
        """The report saved as JSON at `path`. Whatever is wrong with the file is one UsageError that names it."""
        # The writers build on this module, so it can only know them when it is asked.
        parse = importlib.import_module("proctorch.report.json").parse
        try:
            with Path(path).open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: cannot be read: {cause(error)}") from error
        if len(content) > LARGEST_FILE:
            raise UsageError(f"{path}: is larger than {LARGEST_FILE >> 20} MiB, so it is no report of Proctorch")
        try:
            report: Report = parse(content)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error
        return report

    def write(self, path: Path | str, *, audience: Audience = Audience.CANDIDATE) -> None:
        """Write the view for `audience` to `path`, in the format of its suffix: `.html` or `.json`.

        The file is complete or untouched: an older one stays as it was until the new one is whole. What cannot be
        written is a UsageError. The default is the view that is safe to give away; the interviewer's is asked for.
        """
        path = Path(path)
        check_target(path)
        text: str = importlib.import_module(_WRITERS[path.suffix.lower()]).render(self.view(audience))
        replace_file(path, text)

    def view(self, audience: Audience) -> "Report":
        """What `audience` may see of this report. The candidate's view cannot be turned back into the whole."""
        if audience is self.audience:
            return self
        if audience is Audience.CANDIDATE:
            return self.redacted()
        raise UsageError("this report is the candidate's view; the interviewer's needs the whole report")

    def redacted(self) -> "Report":
        """The candidate's view: no failure details, test names, interview cards, flags or seed. All else stays."""
        return dataclasses.replace(
            self,
            audience=Audience.CANDIDATE,
            environment=dataclasses.replace(self.environment, seed=None),
            questions={name: _redacted_question(asked) for name, asked in self.questions.items()},
            grades=tuple(map(_redacted_grade, self.grades)),
        )

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many jobs got each verdict, the gravest first; those that none got are left out. They sum to all jobs."""
        counted = Counter(grade.verdict for grade in self.grades)
        return {verdict: counted[verdict] for verdict in reversed(Verdict) if verdict in counted}

    @property
    def earned(self) -> Fraction:
        """Points over all scored grades."""
        return _earned(self.grades)

    @property
    def possible(self) -> Fraction:
        """Points that could be earned in all scored grades."""
        return _possible(self.grades)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The grades put together by question, then by submission, in the order in which each is first seen."""
        order = list(dict.fromkeys(grade.question for grade in self.grades))
        groups: dict[tuple[str, str, str], list[Grade]] = {}
        for grade in sorted(self.grades, key=lambda grade: order.index(grade.question)):
            groups.setdefault((grade.question, grade.submission, grade.source), []).append(grade)
        return tuple(Attempt(*names, grades=tuple(group)) for names, group in groups.items())


def check_target(path: Path) -> None:
    """UsageError unless the suffix of `path` is one that a report can be written as, and its folder is there."""
    check_folder(path)
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(f"{path}: a report is written as {' or '.join(sorted(_WRITERS))}, by the file's suffix")


def show_percent(earned: Fraction, possible: Fraction) -> str:
    """A share for display, in whole percent, rounded down: only full marks read as 100 %."""
    return f"{earned * 100 // possible} %" if possible else "n/a"


def _asked(question: Question) -> AskedQuestion:
    return AskedQuestion(
        id=question.id,
        topic=question.topic,
        code=question.code,
        title=question.title,
        type=question.type.value,
        difficulty=question.difficulty,
        minutes=question.minutes,
        prompt=question.prompt,
        entry=tuple(entry.signature for entry in question.entry),
        checks=tuple(AskedCheck(check.test, check.title, check.points, check.hints) for check in question.checks),
        card=question.card,
    )


def _redacted_question(asked: AskedQuestion) -> AskedQuestion:
    checks = tuple(dataclasses.replace(check, test="") for check in asked.checks)
    return dataclasses.replace(asked, checks=checks, card=None)


def _redacted_grade(grade: Grade) -> Grade:
    checks = (
        dataclasses.replace(result, test="", detail="", reason=_first_line(result.reason)) for result in grade.checks
    )
    return dataclasses.replace(grade, reason=_first_line(grade.reason), checks=tuple(checks), flags=())


def _first_line(reason: str) -> str:
    """All of a reason that is a candidate's: what follows its first line is for interviewers."""
    return reason.partition("\n")[0]


def _earned(grades: Iterable[Grade]) -> Fraction:
    return sum((grade.earned for grade in grades if grade.scored), Fraction(0))


def _possible(grades: Iterable[Grade]) -> Fraction:
    return sum((grade.possible for grade in grades if grade.scored), Fraction(0))


def _version() -> str:
    try:
        return importlib.metadata.version("proctorch")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
