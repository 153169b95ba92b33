"""The commands that grade submissions and show the reports on them."""
# ruff: noqa: PLC0415 - see proctorch.cli

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctorch.cli.common import (
    audience_option,
    bank_option,
    complete_id,
    device_option,
    json_option,
    progress,
)
from proctorch.errors import ExitCode, UsageError
from proctorch.markup import visible

if TYPE_CHECKING:
    from proctorch.judge.grade import Grade
    from proctorch.judge.plan import Plan
    from proctorch.judge.session import Grading
    from proctorch.report.report import Environment, Report

#: Of files that are ignored; the rest are counted.
_SHOWN_NOTES = 20


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--question", "question_id", metavar="ID", shell_complete=complete_id, help="The question they answer.")
@device_option
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
@audience_option
@bank_option
@json_option
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


@click.command()
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
@audience_option
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


def _graded(plan: "Plan", grading: "Grading") -> tuple["Report", bool]:
    """The report on all jobs, or on those that were done when the user stopped it."""
    from proctorch.report.report import Report

    grades, interrupted = list["Grade"](), False
    try:
        with progress(len(plan.jobs)) as advance:

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
