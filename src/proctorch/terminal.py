"""What the command shows in a terminal. A candidate's text is made visible first, and is never read as markup."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from proctorch.bank.question import Question
from proctorch.errors import Diagnostic
from proctorch.judge.grade import CheckResult, Outcome, Output, Tier, Verdict, show_points
from proctorch.markup import printed, visible

if TYPE_CHECKING:
    from proctorch.bank.sets import QuestionSet
    from proctorch.report.report import Attempt, Report
    from proctorch.verify.kills import Kills, Total
    from proctorch.verify.verify import Finding, Unproven

#: Where output goes to a file or a pipe, lines are as long as they are.
_WIDE = 200
_PRINTED_LINES = 10
_FLAGS = 3
_MARKS = {
    Outcome.PASSED: ("✓ passed", "green"),
    Outcome.FAILED: ("✗ failed", "red"),
    Outcome.ERROR: ("! error", "magenta"),
    Outcome.NOT_RUN: ("– not run", "dim"),
}
_GOOD, _BAD, _OURS = "bold green", "bold red", "bold magenta"


def console(*, stderr: bool = False) -> Console:
    """A console that keeps to NO_COLOR and to plain text where nobody looks on."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDE
    return Console(file=stream, width=width, highlight=False, soft_wrap=not stream.isatty())


def say_words(verdict: Verdict) -> str:
    """A verdict as it is printed: `TIME LIMIT`."""
    return verdict.name.replace("_", " ")


def question_table(questions: Iterable[Question]) -> RenderableType:
    """The list of questions."""
    table = _table("code", "id", "title", "topic", "level", "min", "points", "device")
    for question in questions:
        table.add_row(
            question.code or "",
            Text(question.id, style="bold"),
            question.title,
            question.topic,
            "●" * question.difficulty + "○" * (5 - question.difficulty),
            str(question.minutes),
            show_points(question.points),
            question.device.value,
        )
    return table


def set_table(sets: Iterable["QuestionSet"]) -> RenderableType:
    """The list of sets."""
    table = _table("set", "title", "questions", "min", "points")
    for each in sets:
        count = Text(str(len(each.questions)), justify="right")
        table.add_row(Text(each.id, style="bold"), each.title, count, str(each.minutes), show_points(each.points))
    return table


def set_page(chosen: "QuestionSet") -> RenderableType:
    """One set: what it is for, and its questions."""
    return Group(
        Text(chosen.title, style="bold"),
        Text(f"{chosen.minutes} minutes · {show_points(chosen.points)} points", style="dim"),
        Text(chosen.purpose),
        Text(""),
        question_table(chosen.questions),
        Text(f"Start with: proctorch start {chosen.id}", style="dim"),
    )


def question_page(question: Question) -> RenderableType:
    """One question as a candidate may see it."""
    from rich.markdown import Markdown  # noqa: PLC0415 - `list` has no need of it
    from rich.syntax import Syntax  # noqa: PLC0415 - as above

    facts = (
        f"{question.topic} · {question.type.value} · level {question.difficulty} of 5 · {question.minutes} minutes"
        f" · {show_points(question.points)} points"
    )
    checks = _table("points", "what is checked")
    for check in question.checks:
        only = f"  (on {', '.join(check.only)})" if check.only else ""
        checks.add_row(Text(show_points(check.points), justify="right"), check.title + only)
    name = f"{question.code} · {question.title}" if question.code else question.title
    return Group(
        Text(name, style="bold"),
        Text(facts, style="dim"),
        Text(""),
        Markdown(question.prompt, hyperlinks=False),
        Text(""),
        checks,
        Text(""),
        Text(f"{question.module}.py", style="bold"),
        Syntax(question.starter, "python", background_color="default"),
        Text(f"Start with: proctorch start {question.id}", style="dim"),
    )


def report_page(report: "Report") -> RenderableType:
    """All grades: for each submission the checks per device, the verdicts, and a line for each failure."""
    parts: list[RenderableType] = []
    for attempt in report.attempts:
        parts += [*_attempt(report, attempt), Text("")]
    counts = ", ".join(f"{count} {verdict.value.replace('_', ' ')}" for verdict, count in report.counts.items())
    parts.append(Text(f"{len(report.grades)} graded: {counts}", style="bold"))
    for tier in (Tier.KERNEL, Tier.PROCESS):
        if report.environment.sandbox == tier.value:
            parts.append(Text(f"sandbox: tier {tier.value}, {tier.meaning}"))
    return Group(*parts)


def _attempt(report: "Report", attempt: "Attempt") -> Iterable[RenderableType]:
    question = report.questions[attempt.question]
    yield Text.assemble((visible(attempt.submission), "bold"), " · ", question.title, (f" ({question.id})", "dim"))
    yield from (Text(f"  {visible(note)}", style="dim") for note in attempt.notes)
    names = [grade.device if grade.real else f"{grade.device} (simulated)" for grade in attempt.grades]
    table = _table("check", "points", *names)
    for row in zip(*(grade.checks for grade in attempt.grades), strict=True):
        table.add_row(Text(row[0].title), Text(show_points(row[0].points), justify="right"), *map(_mark, row))
    yield table
    for grade, name in zip(attempt.grades, names, strict=True):
        points = f"  {show_points(grade.earned, grade.possible)} points" if grade.scored else ""
        yield Text.assemble(f"{name}: ", (say_words(grade.verdict), _style(grade.verdict)), points)
        failures = [result for result in grade.checks if result.outcome in (Outcome.FAILED, Outcome.ERROR)]
        for result in failures:
            yield _failure(attempt.submission, result)
        if grade.reason and not any(result.reason and result.reason in grade.reason for result in failures):
            yield Text(f"  {visible(grade.reason)}", style="yellow")
    # What is not counted is said once, however many checks share the reason.
    for reason in dict.fromkeys(
        result.reason for grade in attempt.grades for result in grade.checks if not result.counted
    ):
        yield Text(f"  not counted: {visible(reason)}", style="dim")
    if attempt.flags:
        said = [f"line {flag.line} {flag.does}" for flag in attempt.flags[:_FLAGS]]
        more = len(attempt.flags) - len(said)
        text = "; ".join([*said, f"and {more} more in the interviewer's report"] if more else said)
        yield Text(f"  deserves a look: {visible(text)}", style="yellow")
    for grade, name in zip(attempt.grades, names, strict=True):
        for stream, output in (("stdout", grade.stdout), ("stderr", grade.stderr)):
            yield from _printed(f"{stream} on {name}", output)


def _printed(name: str, output: Output) -> Iterable[Text]:
    """The first lines of what was printed, and how many more there are; the reports have them all."""
    lines = printed(output.text).splitlines()
    if output.text.strip():
        yield Text(f"  {name}:", style="dim")
        yield from (Text(f"    {line}", style="dim") for line in lines[:_PRINTED_LINES])
        if len(lines) > _PRINTED_LINES:
            yield Text(f"    … {len(lines) - _PRINTED_LINES:,} more lines are in the report (-o)", style="dim")


def _failure(submission: str, result: CheckResult) -> Text:
    place = visible(submission)
    if result.place:
        place += f", {visible(result.place.cell)}" if result.place.cell else f":{result.place.line}"
    style = "magenta" if result.outcome is Outcome.ERROR else "red"
    return Text.assemble("  ", (f"{place}: ", style), f"{result.title}: ", visible(result.reason))


def _mark(result: CheckResult) -> Text:
    text, style = _MARKS[result.outcome]
    return Text(text if result.counted else "– not counted", style=style)


def _style(verdict: Verdict) -> str:
    if verdict is Verdict.ACCEPTED:
        return _GOOD
    return _OURS if verdict in (Verdict.JUDGE_ERROR, Verdict.NOT_RUN) else _BAD


def verify_page(
    findings: Iterable["Finding"], unproven: Iterable["Unproven"], to_do: Iterable[Diagnostic]
) -> RenderableType:
    """One row for each question and device, then a line for each problem, and for each thing that is left to do."""
    from proctorch.verify.verify import Kind  # noqa: PLC0415 - it needs the judge, which nothing else here does

    rows: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        rows.setdefault((finding.trial.job.question.id, finding.trial.job.device.name), []).append(finding)
    table = _table("question", "device", "right", "wrong", "starter and junk", "coarse", "not asked here", "problems")
    problems: list[RenderableType] = []
    for (question, device), group in rows.items():
        done = [finding for finding in group if not finding.skipped]
        bad = [finding for finding in done if finding.problem]
        right = sum(finding.trial.expected is Verdict.ACCEPTED for finding in done)
        kinds = [finding.trial.kind for finding in done]
        wrong = kinds.count(Kind.SOLUTION) - right
        coarse = kinds.count(Kind.COARSE)
        junk = kinds.count(Kind.STARTER) + kinds.count(Kind.JUNK)
        numbers = (right, wrong, junk, coarse, len(group) - len(done))
        count = Text(str(len(bad)) if bad else "none", style=_BAD if bad else "green")
        table.add_row(Text(question, style="bold"), device, *(Text(str(n), justify="right") for n in numbers), count)
        problems += [
            Text.assemble(
                (f"{question} on {device}: {each.trial.name} ", "red"),
                visible(each.problem),
                (f" (seed {each.trial.job.seed})", "dim"),
            )
            for each in bad
        ]
    problems += [Text.assemble((f"{each.question.id}: ", "red"), each.problem) for each in unproven]
    place = "{0.path}:{0.line}:{0.column}: "
    problems += [Text.assemble((place.format(each), "yellow"), visible(each.message)) for each in to_do]
    return Group(table, *problems)


def kills_page(kills: Iterable["Kills"], total: "Total | None") -> RenderableType:
    """One row for each question, and one for the whole bank; a line for each mutant that survived, and each problem."""
    from proctorch.verify.kills import Fate  # noqa: PLC0415 - it needs libcst, which nothing else here does

    table = _table("question", "mutants", "killed", "equivalent", "survived", "kill rate", "problems")
    lines: list[RenderableType] = []
    for each in kills:
        survivors = each.of(Fate.SURVIVED)
        numbers = (len(each.played), each.count(Fate.KILLED), each.count(Fate.EQUIVALENT), len(survivors))
        count = Text(str(len(each.problems)) if each.problems else "none", style=_BAD if each.problems else "green")
        told = [*map(str, numbers), f"{each.rate:.1%}"]
        name = Text(each.question.id, style="bold")
        table.add_row(name, *(Text(number, justify="right") for number in told), count)
        lines += [
            Text.assemble((f"{each.question.id} accepts {one.place}: ", "yellow"), visible(one.mutant.name))
            for one in survivors
        ]
        lines += [Text.assemble((f"{each.question.id}: ", "red"), visible(problem)) for problem in each.problems]
    if total:
        survived = total.mutants - total.killed - total.equivalent
        told = [*map(str, (total.mutants, total.killed, total.equivalent, survived)), f"{total.rate:.1%}"]
        count = Text("1", style=_BAD) if total.problem else Text("none", style="green")
        table.add_row(Text("all", style="bold"), *(Text(number, justify="right") for number in told), count)
        lines += [Text(total.problem, style="red")] if total.problem else []
    return Group(table, *lines)


def facts_page(title: str, facts: Iterable[tuple[str, str]]) -> RenderableType:
    """Names and values, one a line."""
    table = Table.grid(padding=(0, 2))
    for name, value in facts:
        table.add_row(Text(name, style="dim"), visible(value))
    return Group(Text(title, style="bold"), table)


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        right = column in {"min", "points", "right", "wrong", "starter and junk", "coarse", "not asked here"}
        right |= column in {"mutants", "killed", "equivalent", "survived", "kill rate"}
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    return table
