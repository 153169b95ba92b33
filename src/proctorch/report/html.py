"""A report as one HTML page that needs nothing else: no network, no script, no other file.

Here the report is put in the order in which it is read; what it looks like is `templates/report.html.j2`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePosixPath

from markupsafe import Markup

from proctorch import templating
from proctorch.judge.grade import CheckResult, Grade, MemoryRun, Outcome, Output, Place, Tier, Verdict, show_points
from proctorch.report import plots
from proctorch.report.report import AskedQuestion, Attempt, Audience, Environment, Report, show_percent

#: Characters shown of one long text: its head and its tail. The JSON report has the whole.
_HEAD, _TAIL = 12_000, 6_000
#: Characters of a text that is meant to be one line.
_LINE = 1_000
#: Characters and lines shown of a source.
_SOURCE, _SOURCE_LINES = 200_000, 3_000

#: How grave it is, as the style sheet names it: `fault` is never the candidate's.
_TONES = {
    Verdict.ACCEPTED: "good",
    Verdict.PARTIAL: "part",
    Verdict.NOT_RUN: "none",
    Verdict.JUDGE_ERROR: "fault",
    Outcome.PASSED: "good",
    Outcome.FAILED: "bad",
    Outcome.ERROR: "fault",
    Outcome.NOT_RUN: "none",
}


@dataclass(frozen=True)
class _Mark:
    """A verdict or an outcome, as a word and a tone."""

    word: str
    tone: str
    count: int = 1


@dataclass(frozen=True)
class _Text:
    """A text cut for show: `dropped` characters between `head` and `tail` are not shown."""

    head: str
    dropped: int = 0
    tail: str = ""

    @property
    def lines(self) -> int:
        return len((self.head + self.tail).splitlines())


@dataclass(frozen=True)
class _Stream:
    """What was printed, by name, with the bytes that the judge had cut from it."""

    name: str
    text: _Text
    cut: int


@dataclass(frozen=True)
class _Remark:
    """One reason why a check did not pass, with the devices that gave it."""

    devices: tuple[str, ...]
    outcome: _Mark
    reason: str
    place: Place | None
    #: Whether the place's line is on the page.
    linked: bool
    #: The full failure on each device. Interviewers only.
    details: tuple[tuple[str, _Text], ...]


@dataclass(frozen=True)
class _Cell:
    """One check on one device; without `mark` it was not planned there."""

    mark: _Mark | None = None
    points: str = ""


@dataclass(frozen=True)
class _Row:
    """One check on every device."""

    number: int
    title: str
    test: str
    cells: tuple[_Cell, ...]
    remarks: tuple[_Remark, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True)
class _Note:
    """What is said under a line of code: a reason, and the numbers of the checks that gave it."""

    checks: tuple[int, ...]
    devices: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class _Advice:
    """What is listed of a flag. `linked`: its line is on the page."""

    line: int
    linked: bool
    sentence: str


@dataclass(frozen=True)
class _Copies:
    """Copies between devices of one direction from one line."""

    source: str
    target: str
    count: int
    size: str
    place: Place | None


@dataclass(frozen=True)
class _Job:
    """One grade."""

    device: str
    real: bool
    verdict: _Mark
    points: str
    seconds: str
    reason: str
    streams: tuple[_Stream, ...]
    #: The memory timeline as SVG, and what it shows in words; empty where there is none.
    plot: Markup
    plotted: str
    copies: tuple[_Copies, ...]


@dataclass(frozen=True)
class _Work:
    """One submission to one question: its grades, its checks, its code."""

    anchor: str
    submission: str
    file: str
    #: How it was read, a line each.
    remarks: tuple[str, ...]
    jobs: tuple[_Job, ...]
    total: str
    rows: tuple[_Row, ...]
    source: str
    source_cut: bool
    #: By line: what to say under it.
    notes: dict[int, list[_Note]]
    #: Interviewers only.
    flags: tuple[_Advice, ...]
    #: By line: what it does that deserves a look.
    flagged: dict[int, list[str]]


@dataclass(frozen=True)
class _Section:
    """One question and the work handed in for it."""

    anchor: str
    asked: AskedQuestion
    points: str
    works: tuple[_Work, ...]


def render(report: Report) -> str:
    """The page."""
    return templating.render(
        "report.html.j2",
        {
            "report": report,
            "for_interviewer": report.audience is Audience.INTERVIEWER,
            "headline": _headline(report),
            "tally": _tally(report),
            "points": show_points(report.earned, report.possible) if report.possible else "",
            "percent": show_percent(report.earned, report.possible),
            "sections": _sections(report),
            "facts": _facts(report),
        },
    )


def _headline(report: Report) -> str:
    accepted = report.counts.get(Verdict.ACCEPTED, 0)
    match len(report.grades):
        case 0:
            return "Nothing was graded"
        case 1:
            return _mark(report.grades[0].verdict).word
        case jobs if accepted == jobs:
            return f"All {jobs} jobs accepted"
        case jobs:
            return f"{accepted or 'None'} of {jobs} jobs accepted"


def _tally(report: Report) -> list[_Mark]:
    """The mildest verdict first; what was not run is no verdict on anyone, and comes last."""
    counts = sorted(report.counts.items(), key=lambda item: (item[0] is Verdict.NOT_RUN, item[0].severity))
    return [_mark(verdict, count) for verdict, count in counts]


def _mark(result: Verdict | Outcome, count: int = 1) -> _Mark:
    return _Mark(result.value.replace("_", " ").capitalize(), _TONES.get(result, "bad"), count)


def _sections(report: Report) -> list[_Section]:
    works: dict[str, list[_Work]] = {name: [] for name in report.questions}
    for number, attempt in enumerate(report.attempts, start=1):
        works[attempt.question].append(_work(attempt, report.questions[attempt.question], f"a{number}"))
    return [
        _Section(f"q{number}", report.questions[name], _worth(report.questions[name]), tuple(handed_in))
        for number, (name, handed_in) in enumerate(works.items(), start=1)
    ]


def _work(attempt: Attempt, asked: AskedQuestion, anchor: str) -> _Work:
    shown = _shown_source(attempt.source)
    lines = shown.count("\n") + 1 if shown else 0
    rows = tuple(_rows(attempt.grades, asked, lines))
    flagged: dict[int, list[str]] = {}
    for flag in attempt.flags:
        flagged.setdefault(flag.line, []).append(_line(flag.does))
    return _Work(
        anchor=anchor,
        submission=attempt.submission,
        file=PurePosixPath(attempt.submission.replace("\\", "/")).name,
        remarks=tuple(map(_line, attempt.notes)),
        jobs=tuple(_job(grade, f"{anchor}-j{number}") for number, grade in enumerate(attempt.grades)),
        total=show_points(attempt.earned, attempt.possible) if len(attempt.grades) > 1 else "",
        rows=rows,
        source=shown,
        source_cut=len(shown) < len(attempt.source),
        notes=_notes(rows),
        flags=tuple(_Advice(flag.line, 1 <= flag.line <= lines, _line(flag.sentence)) for flag in attempt.flags),
        flagged=flagged,
    )


def _notes(rows: Iterable[_Row]) -> dict[int, list[_Note]]:
    """By line of code, each reason once."""
    checks: dict[tuple[int, tuple[str, ...], str], tuple[int, ...]] = {}
    for row in rows:
        for remark in row.remarks:
            if remark.place and remark.linked:
                said = (remark.place.line, remark.devices, remark.reason)
                checks[said] = (*checks.get(said, ()), row.number)
    notes: dict[int, list[_Note]] = {}
    for (line, devices, reason), numbers in checks.items():
        notes.setdefault(line, []).append(_Note(numbers, devices, reason))
    return notes


def _shown_source(source: str) -> str:
    """The source, or the first lines of an overlong one; its lines end in line feeds, as Python counts them."""
    lines = source[:_SOURCE].replace("\r\n", "\n").replace("\r", "\n").split("\n", _SOURCE_LINES)
    return "\n".join(lines[:_SOURCE_LINES])


def _job(grade: Grade, anchor: str) -> _Job:
    return _Job(
        device=grade.device,
        real=grade.real,
        verdict=_mark(grade.verdict),
        points=show_points(grade.earned, grade.possible) if grade.scored else "not scored",
        seconds=f"{grade.seconds:.2f} s" if grade.seconds else "",
        reason=_line(grade.reason),
        streams=tuple(_streams(grade)),
        plot=Markup(plots.memory_timeline(grade.memory, anchor)) if grade.memory else Markup(),  # noqa: S704 - numbers
        plotted=_plotted(grade.memory) if grade.memory else "",
        copies=tuple(
            _Copies(
                source=each.source,
                target=each.target,
                count=each.count,
                size=_size(each.bytes),
                place=None if each.line is None else Place(each.line, ""),
            )
            for each in grade.copies
        ),
    )


def _plotted(run: MemoryRun) -> str:
    """The memory timeline for who cannot see it."""
    failed = [moment for moment in run.moments if moment.failed]
    text = f"Live memory of the device: peak {_size(run.peak)} of a budget of {_size(run.budget)}"
    return f"{text}; {len(failed)} failed allocations, the first of {_size(failed[0].failed)}" if failed else text


def _size(count: int) -> str:
    """Bytes for people."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _streams(grade: Grade) -> Iterable[_Stream]:
    for name, output in (("stdout", grade.stdout), ("stderr", grade.stderr)):
        if output != Output():
            yield _Stream(name, _text(output.text), output.cut)


def _rows(grades: tuple[Grade, ...], asked: AskedQuestion, lines: int) -> Iterable[_Row]:
    """Each check once, whatever number of devices it was made on, in the order in which they were planned."""
    columns = [_by_name(grade) for grade in grades]
    for number, name in enumerate(dict.fromkeys(name for column in columns for name in column), start=1):
        results = [(grade, column.get(name)) for grade, column in zip(grades, columns, strict=True)]
        made = [(grade, result) for grade, result in results if result]
        missed = any(result.counted and result.outcome is not Outcome.PASSED for _, result in made)
        yield _Row(
            number=number,
            title=_line(made[0][1].title),
            test=made[0][1].test,
            cells=tuple(_cell(grade, result) for grade, result in results),
            remarks=tuple(_remarks(made, lines)),
            hints=asked.hints(made[0][1]) if missed else (),
        )


def _by_name(grade: Grade) -> dict[tuple[str, str, int], CheckResult]:
    """The results by test and title; of several alike (the candidate's view has no tests) the first, the second, …"""
    named: dict[tuple[str, str, int], CheckResult] = {}
    for result in grade.checks:
        turn = sum((result.test, result.title) == name[:2] for name in named)
        named[result.test, result.title, turn] = result
    return named


def _cell(grade: Grade, result: CheckResult | None) -> _Cell:
    if result is None:
        return _Cell()
    if not result.counted:
        points = "not counted"
    elif not grade.scored:
        points = "not scored"
    else:
        points = show_points(result.earned, result.points)
    return _Cell(_mark(result.outcome), points)


def _remarks(results: list[tuple[Grade, CheckResult]], lines: int) -> Iterable[_Remark]:
    """What is to be said about a check, once for all devices that say the same."""
    same: dict[tuple[Outcome, str, Place | None], list[tuple[str, str]]] = {}
    for grade, result in results:
        if result.reason or result.detail:
            said = same.setdefault((result.outcome, result.reason, result.place), [])
            said.append((grade.device, result.detail))
    for (outcome, reason, place), said in same.items():
        yield _Remark(
            devices=tuple(device for device, _ in said),
            outcome=_mark(outcome),
            reason=_line(reason),
            place=place,
            linked=place is not None and 1 <= place.line <= lines,
            details=tuple((device, _text(detail)) for device, detail in said if detail),
        )


def _facts(report: Report) -> list[tuple[str, str]]:
    """The environment, as terms and what they are; the devices and the limits are lists of their own."""
    environment: Environment = report.environment
    facts = [
        ("Created", f"{report.created:%Y-%m-%d %H:%M:%S} UTC"),
        ("Proctorch", report.proctorch),
        ("PyTorch", environment.torch),
        ("Python", environment.python),
        ("Platform", environment.platform),
        ("Sandbox", _sandbox(environment.sandbox)),
        ("Bank", environment.bank),
        ("Bank digest", environment.bank_digest),
    ]
    if environment.seed is not None:
        facts.append(("Seed", str(environment.seed)))
    return facts


def _sandbox(tier: str) -> str:
    known = {each.value: each.meaning for each in Tier}
    return f"{tier}: {known[tier]}" if tier in known else tier


def _worth(asked: AskedQuestion) -> str:
    return show_points(sum((check.points for check in asked.checks), Fraction(0)))


def _line(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[:_LINE]} …"


def _text(text: str) -> _Text:
    dropped = len(text) - _HEAD - _TAIL
    return _Text(text[:_HEAD], dropped, text[-_TAIL:]) if dropped > 0 else _Text(text)
