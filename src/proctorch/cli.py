"""The command: parses, calls, prints, and turns what happened into an exit code. It decides nothing.

Modules are imported inside the commands that need them: what grades nothing starts without torch and without pytest.
"""
# ruff: noqa: PLC0415 - see above

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from proctorch.errors import ExitCode, ProctorchError, UsageError
from proctorch.markup import visible

if TYPE_CHECKING:
    from proctorch.bank.bank import Bank
    from proctorch.bank.question import Question
    from proctorch.judge.grade import Grade
    from proctorch.judge.plan import Plan
    from proctorch.judge.session import Grading
    from proctorch.report.report import Environment, Report

#: Of files that are ignored; the rest are counted.
_SHOWN_NOTES = 20
_Command = TypeVar("_Command", bound=Callable[..., Any])


def main() -> None:
    """The console script: every error is one message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows `?` rather than nothing
    sys.exit(_run())


def _run() -> int:
    try:
        code = cli.main(prog_name="proctorch", standalone_mode=False)
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except ProctorchError as error:
        told = visible(str(error))  # a message may quote the name of a stranger's file
        click.echo(f"proctorch: {told}" if error.exit_code is not ExitCode.USAGE else told, err=True)
        return error.exit_code
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception as error:
        if os.environ.get("PROCTORCH_DEBUG"):
            raise
        told = f"proctorch: a bug in Proctorch: {type(error).__name__}: {error}\nPROCTORCH_DEBUG=1 shows where"
        click.echo(told, err=True)
        return ExitCode.JUDGE_ERROR


def _complete_id(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from proctorch.bank.bank import Bank

    try:
        questions = Bank.load(context.params.get("bank"), parse_graders=False).questions
    except ProctorchError:
        return []
    return [CompletionItem(each.id, help=each.title) for each in questions if each.id.startswith(incomplete)]


def _bank_option(command: _Command) -> _Command:
    return click.option(
        "--bank",
        type=click.Path(path_type=Path),
        envvar="PROCTORCH_BANK",
        metavar="DIR",
        help="The folder of questions; the default bank if not given.",
    )(command)


def _json_option(command: _Command) -> _Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")(command)


def _device_option(command: _Command) -> _Command:
    return click.option(
        "--device",
        "devices",
        multiple=True,
        metavar="D",
        help="A device, such as cpu or cuda:0; may be repeated. By default every real device that is here.",
    )(command)


def _audience_option(command: _Command) -> _Command:
    return click.option(
        "--for",
        "audience",
        type=click.Choice(["candidate", "interviewer"]),
        help="candidate: no test code, no expected values, no interview card. interviewer: everything.",
    )(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="proctorch")
def cli() -> None:
    """Proctorch, the PyTorch interview proctor: questions about devices, and graders that can be trusted."""


@cli.command("list")
@click.option("--topic", help="Only this topic, such as device-check.")
@click.option("--difficulty", type=click.IntRange(1, 5), help="Only this level.")
@click.option("--tag", help="Only questions with this tag.")
@_bank_option
@_json_option
def list_(topic: str | None, difficulty: int | None, tag: str | None, bank: Path | None, as_json: bool) -> None:
    """List the questions of the bank."""
    from proctorch.bank.bank import Bank
    from proctorch.judge.grade import show_points

    questions = Bank.load(bank, parse_graders=False).select(topic=topic, difficulty=difficulty, tag=tag)
    if as_json:
        _print_json(
            [
                {
                    "id": each.id,
                    "code": each.code,
                    "title": each.title,
                    "topic": each.topic,
                    "type": each.type.value,
                    "difficulty": each.difficulty,
                    "minutes": each.minutes,
                    "points": show_points(each.points),
                    "device": each.device.value,
                    "tags": list(each.tags),
                }
                for each in questions
            ]
        )
        return
    from proctorch import terminal

    terminal.console().print(terminal.question_table(questions))


@cli.command()
@click.argument("question_id", metavar="ID", shell_complete=_complete_id)
@_bank_option
@_json_option
def show(question_id: str, bank: Path | None, as_json: bool) -> None:
    """Show a question: prompt, what is checked, starter code, time and points."""
    from proctorch.bank.bank import Bank
    from proctorch.judge.grade import show_points

    question = Bank.load(bank, parse_graders=False).find(question_id)
    if as_json:
        checks = [{"title": check.title, "points": show_points(check.points)} for check in question.checks]
        _print_json(
            {
                "id": question.id,
                "title": question.title,
                "minutes": question.minutes,
                "points": show_points(question.points),
                "prompt": question.prompt,
                "entry": [entry.signature for entry in question.entry],
                "starter": question.starter,
                "checks": checks,
            }
        )
        return
    from proctorch import terminal

    terminal.console().print(terminal.question_page(question))


@cli.command()
@click.argument("question_id", metavar="ID", shell_complete=_complete_id)
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@_bank_option
def start(question_id: str, folder: Path, force: bool, bank: Path | None) -> None:
    """Write a question's starter file into DIR (by default this folder)."""
    from proctorch.bank.bank import Bank
    from proctorch.report.report import replace_file

    question = Bank.load(bank, parse_graders=False).find(question_id)
    target = folder / f"{question.module}.py"
    if target.exists() and not force:
        raise UsageError(f"{target} is there already; --force overwrites it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    replace_file(target, f"# proctorch: {question.id}\n{question.starter}")
    option = f" --bank {bank}" if bank else ""
    click.echo(f"{target}: the starter. Read the task with `proctorch show {question.id}{option}`, then")
    click.echo(f"  proctorch grade {target}{option}")


@cli.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--question", "question_id", metavar="ID", shell_complete=_complete_id, help="The question they answer.")
@_device_option
@click.option("--seed", type=click.IntRange(min=0), help="Repeat a run: the seed that its report names.")
@click.option(
    "--trust-submissions", is_flag=True, help="Grade code that cannot be confined here: your own, or a friend's."
)
@click.option(
    "--tier", type=click.Choice(["full", "kernel", "process"]), default="full", help="No stronger sandbox than this."
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the report: .json or .html.",
)
@_audience_option
@_bank_option
@_json_option
def grade(
    paths: tuple[Path, ...],
    question_id: str | None,
    devices: tuple[str, ...],
    seed: int | None,
    trust_submissions: bool,
    tier: str,
    outputs: tuple[Path, ...],
    audience: str | None,
    bank: Path | None,
    as_json: bool,
) -> int:
    """Grade submissions: files of Python, notebooks, and folders or archives (.zip, .tar, .tgz) of them.

    A saved .json is the whole record unless --for says otherwise; a .html is the candidate's view.
    """
    from proctorch.bank.bank import Bank
    from proctorch.judge.collect import collect
    from proctorch.judge.grade import Tier
    from proctorch.judge.plan import Plan
    from proctorch.judge.session import Grading
    from proctorch.report.report import check_target

    for output in outputs:
        check_target(output)  # said before the work, not after it
    loaded = Bank.load(bank)
    question = loaded.find(question_id) if question_id else None
    collected = collect(loaded, paths, question)
    for note in collected.notes[:_SHOWN_NOTES]:
        click.echo(visible(note), err=True)
    if len(collected.notes) > _SHOWN_NOTES:
        click.echo(f"{len(collected.notes) - _SHOWN_NOTES:,} more files ignored", err=True)
    plan = Plan.build(loaded, collected.submissions, devices=devices, question=question)
    grading = Grading(plan, seed, trust_submissions=trust_submissions, strongest=Tier(tier))
    report, interrupted = _graded(plan, grading)
    # Shown first: a report that cannot be written must not cost the grades.
    if as_json:
        from proctorch.report.json import render

        click.echo(render(report.view(_audience(audience or "interviewer"))), nl=False)
    else:
        from proctorch import terminal

        terminal.console().print(terminal.report_page(report))
    for output in outputs:
        default = "interviewer" if output.suffix.lower() == ".json" else "candidate"
        report.write(output, audience=_audience(audience or default))
        click.echo(f"report: {output}", err=as_json)
    if interrupted:
        click.echo(f"interrupted after {len(report.grades)} of {len(plan.jobs)} jobs", err=True)
        return ExitCode.INTERRUPTED
    return _exit_code(report)


@cli.command()
@click.argument("results", metavar="RESULTS.json", type=click.Path(path_type=Path))
@click.option("--html", "as_html", is_flag=True, help="Write RESULTS.html beside it.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the report: .html or .json.",
)
@_audience_option
def report(results: Path, as_html: bool, outputs: tuple[Path, ...], audience: str | None) -> None:
    """Show a saved report, or write it in another form."""
    from proctorch.report.report import Report

    saved = Report.read(results)
    targets = (*outputs, results.with_suffix(".html")) if as_html else outputs
    for target in targets:
        if target.resolve() == results.resolve():
            raise UsageError(f"{target}: is the saved report itself; give another name")
        saved.write(target, audience=_audience(audience or "candidate"))
        click.echo(f"report: {target}")
    if not targets:
        from proctorch import terminal

        terminal.console().print(terminal.report_page(saved))


@cli.command()
@click.argument("question_ids", metavar="[ID]...", nargs=-1, shell_complete=_complete_id)
@click.option(
    "--mutants", "with_mutants", is_flag=True, help="Instead, play one-change mutants of the right solutions."
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="With --mutants: the table as Markdown.")
@_device_option
@_bank_option
@_json_option
def verify(
    question_ids: tuple[str, ...],
    with_mutants: bool,
    write: Path | None,
    devices: tuple[str, ...],
    bank: Path | None,
    as_json: bool,
) -> int:
    """Prove the graders: every shipped solution gets its verdict; the starter and junk do not pass.

    With --mutants: nearly all right solutions with one thing done wrong are rejected, on the CPU or on the virtual
    accelerator if no --device is given.
    """
    from proctorch.bank.bank import Bank
    from proctorch.devices import choose
    from proctorch.verify import verify as proof

    if write and not with_mutants:
        raise UsageError("--write writes the table of --mutants; give both")
    loaded = Bank.load(bank)
    questions = [loaded.find(name) for name in question_ids] or loaded.questions
    if with_mutants:
        return _verify_mutants(loaded, questions, devices, write, as_json=as_json)
    trials = proof.plan_trials(questions, choose(devices))
    with _progress(len(trials)) as advance:
        findings = proof.verify(loaded, trials, lambda grade: advance(Path(grade.submission).name))
    unproven = proof.unproven(findings)
    problems = [finding for finding in findings if finding.problem]
    if as_json:
        _print_json(
            [
                {
                    "question": finding.trial.job.question.id,
                    "device": finding.trial.job.device.name,
                    "trial": finding.trial.name,
                    "verdict": finding.grade.verdict.value,
                    "problem": finding.problem,
                    "skipped": finding.skipped,
                }
                for finding in findings
            ]
            + [{"question": each.question.id, "check": each.test, "problem": each.problem} for each in unproven]
        )
    else:
        from proctorch import terminal

        terminal.console().print(terminal.verify_page(findings, unproven))
    if all(finding.skipped for finding in findings):
        return ExitCode.NOTHING_GRADED
    return ExitCode.NOT_ACCEPTED if problems or unproven else ExitCode.OK


def _verify_mutants(
    bank: "Bank", questions: "Iterable[Question]", devices: tuple[str, ...], write: Path | None, *, as_json: bool
) -> int:
    from proctorch.devices import CPU, VIRTUAL, choose

    try:
        from proctorch.verify import kills as proof
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        raise UsageError("--mutants needs libcst; install it with `pip install 'proctorch[authoring]'`") from None
    with _progress() as advance:
        kills = proof.kill(
            bank,
            questions,
            choose(devices) if devices else (CPU, VIRTUAL),
            on_total=lambda total: advance("", total),
            on_mutant=lambda: advance("mutants"),
        )
    if write:
        from proctorch.verify.page import write_page

        write_page(write, bank, kills)
    if as_json:
        _print_json(
            [
                {
                    "question": each.question.id,
                    "mutants": len(each.played),
                    "killed": each.count(proof.Fate.KILLED),
                    "equivalent": each.count(proof.Fate.EQUIVALENT),
                    "rate": round(each.rate, 4),
                    "survivors": [
                        {"place": one.place, "mutant": one.mutant.name} for one in each.of(proof.Fate.SURVIVED)
                    ],
                    "problems": list(each.problems),
                }
                for each in kills
            ]
        )
    else:
        from proctorch import terminal

        terminal.console().print(terminal.kills_page(kills))
    if not any(each.played for each in kills):
        return ExitCode.NOTHING_GRADED
    return ExitCode.NOT_ACCEPTED if any(each.problems for each in kills) else ExitCode.OK


@cli.command()
@click.option(
    "--virtual",
    "sample",
    is_flag=False,
    flag_value=12,
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Compare the virtual accelerator with its tables, and with the CPU on every N-th operator (12; 1 for all).",
)
@_bank_option
@_json_option
def doctor(sample: int | None, bank: Path | None, as_json: bool) -> int:
    """Say what this machine can do: torch, devices, and the limits that a submission is really held to."""
    if sample is not None:
        import subprocess

        command = [sys.executable, "-m", "proctorch.virtual.conformance", "--sample", str(sample)]
        return subprocess.run(command, check=False).returncode  # noqa: S603 - our own module
    from proctorch import doctor as examine

    found = examine.examine(bank)
    if as_json:
        facts: dict[str, list[str]] = {}
        for name, value in found.facts:
            facts.setdefault(name, []).append(value)
        _print_json({"facts": facts, "problems": list(found.problems)})
    else:
        from proctorch import terminal

        terminal.console().print(terminal.facts_page("This machine", found.facts))
        for problem in found.problems:
            click.echo(f"problem: {problem}", err=True)
    return ExitCode.JUDGE_ERROR if found.problems else ExitCode.OK


@cli.command()
@click.option("--report", "of_report", is_flag=True, help="The schema of a saved report instead.")
def schema(of_report: bool) -> None:
    """Print the JSON schema of a question file, for editors."""
    from proctorch.bank.schema import json_schema
    from proctorch.report.json import report_schema

    _print_json(report_schema() if of_report else json_schema())


def _graded(plan: "Plan", grading: "Grading") -> tuple["Report", bool]:
    """The report on all jobs, or on those that were done when the user stopped it."""
    from proctorch.report.report import Report

    grades, interrupted = list["Grade"](), False
    try:
        with _progress(len(plan.jobs)) as advance:

            def done(grade: "Grade") -> None:
                grades.append(grade)
                advance(Path(grade.submission).name)

            grades = grading.run(done)
    except KeyboardInterrupt:
        interrupted = True
    questions = dict.fromkeys(job.question for job in plan.jobs)
    environment = _environment(plan, grading)
    return Report.collect(grades, questions=questions, environment=environment), interrupted


def _environment(plan: "Plan", grading: "Grading") -> "Environment":
    from importlib.metadata import version

    from proctorch.report.report import DeviceInfo, Environment
    from proctorch.shipped import default_bank

    devices = dict.fromkeys(job.device for job in plan.jobs)
    asked = [job.question.limits for job in plan.jobs]
    watched = dict.fromkeys(f"{each.seconds:g} s for each scenario" for each in asked)
    watched |= dict.fromkeys(f"output {each.output / (1 << 20):g} MiB" for each in asked)
    return Environment(
        torch=version("torch"),
        devices=tuple(DeviceInfo(each.name, each.description, each.real) for each in devices),
        sandbox=grading.strength.tier.value if grading.strength else "none: nothing was played",
        limits=(*watched, *grading.limits),
        bank="the default bank" if plan.bank.root == default_bank() else plan.bank.root.name,
        bank_digest=plan.bank.digest,
        seed=grading.seed,
    )


def _exit_code(report: "Report") -> ExitCode:
    from proctorch.judge.grade import Verdict

    verdicts = set(report.counts)
    if Verdict.JUDGE_ERROR in verdicts:
        return ExitCode.JUDGE_ERROR
    if verdicts <= {Verdict.NOT_RUN}:
        return ExitCode.NOTHING_GRADED
    return ExitCode.OK if verdicts <= {Verdict.ACCEPTED, Verdict.NOT_RUN} else ExitCode.NOT_ACCEPTED


def _audience(name: str) -> Any:
    from proctorch.report.report import Audience

    return Audience(name)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


@contextmanager
def _progress(total: int | None = None) -> Iterator[Callable[..., None]]:
    """A bar on the terminal's error stream while several jobs run; nothing where nobody looks on.

    Called with the name of what is done. With a number beside it, that is the total, and nothing is done yet.
    """
    if (total is not None and total < 2) or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from proctorch import terminal

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=terminal.console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)

        def advance(name: str, total: int | None = None) -> None:
            progress.update(task, total=total, advance=1 if total is None else 0, description=name)

        yield advance
