"""The command that proves the graders."""
# ruff: noqa: PLC0415 - see proctorch.cli

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctorch.cli.common import bank_option, complete_id, device_option, json_option, print_json, progress
from proctorch.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from proctorch.bank.bank import Bank
    from proctorch.bank.question import Question

#: How many times --stress grades each solution.
_TIMES = 50


@click.command()
@click.argument("question_ids", metavar="[ID]...", nargs=-1, shell_complete=complete_id)
@click.option(
    "--mutants", "with_mutants", is_flag=True, help="Instead, play one-change mutants of the right solutions."
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="With --mutants: the table as Markdown.")
@click.option(
    "--stress", is_flag=True, help="Instead, grade each shipped solution many times, with other hidden inputs."
)
@click.option("--times", type=click.IntRange(min=1), metavar="N", help="With --stress: how many times (50).")
@click.option("--seed", type=click.IntRange(min=0), help="Repeat a run: the seed that a problem names.")
@click.option("--processes", type=click.IntRange(min=1), metavar="N", help="As many at once; by default one per core.")
@device_option
@bank_option
@json_option
def verify(
    question_ids: tuple[str, ...],
    with_mutants: bool,
    write: Path | None,
    stress: bool,
    times: int | None,
    seed: int | None,
    processes: int | None,
    devices: tuple[str, ...],
    bank: Path | None,
    as_json: bool,
) -> int:
    """Prove the graders: every shipped solution gets its verdict; the starter and junk do not pass.

    Each check rejects something that no other one does, and takes no numbers in a lower precision for right ones.
    The self-check that candidates get passes on each right solution, and not on the starter.

    With --mutants: nearly all right solutions with one thing done wrong are rejected, on the CPU or on the virtual
    accelerator if no --device is given: 97 % of each question's, 99 % of the whole bank's if it is asked.
    """
    from proctorch.bank.bank import Bank
    from proctorch.bank.skeleton import unfinished
    from proctorch.devices import choose
    from proctorch.verify import verify as proof
    from proctorch.verify.self_check import unproven_self_checks

    for given, name, wanted in (
        (write and not with_mutants, "--write", "it writes the table of --mutants; give both"),
        (times and not stress, "--times", "it says how often --stress grades; give both"),
        (stress and with_mutants, "--stress", "it is one way to verify, and --mutants is another; give one"),
        (seed is not None and (stress or with_mutants), "--seed", "it repeats a plain `verify`; leave the others out"),
    ):
        if given:
            raise UsageError(f"{name}: {wanted}")
    loaded = Bank.load(bank)
    questions = loaded.find_all(question_ids) or loaded.questions
    if with_mutants:
        whole = len(questions) == len(loaded.questions)
        return _verify_mutants(loaded, questions, devices, write, processes, whole=whole, as_json=as_json)
    chosen = choose(devices)
    if stress:
        trials = proof.plan_stress(questions, chosen, times or _TIMES)
    else:
        trials = proof.plan_trials(questions, chosen, seed)
    with progress(len(trials)) as advance:
        findings = proof.verify(loaded, trials, processes=processes, on_trial=advance)
    unproven = proof.unproven(findings)
    if not stress:
        unproven += unproven_self_checks(questions)
    to_do = [] if stress else [(each.id, told) for each in questions for told in unfinished(each)]
    problems = [finding for finding in findings if finding.problem]
    if as_json:
        print_json(
            [
                {
                    "question": finding.trial.job.question.id,
                    "device": finding.trial.job.device.name,
                    "trial": finding.trial.name,
                    "seed": finding.trial.job.seed,
                    "verdict": finding.grade.verdict.value,
                    "problem": finding.problem,
                    "skipped": finding.skipped,
                }
                for finding in findings
            ]
            + [{"question": each.question.id, "check": each.test, "problem": each.problem} for each in unproven]
            + [{"question": name, "problem": str(told)} for name, told in to_do]
        )
    else:
        from proctorch import terminal

        terminal.console().print(terminal.verify_page(findings, unproven, [told for _, told in to_do]))
    if all(finding.skipped for finding in findings):
        return ExitCode.NOTHING_GRADED
    return ExitCode.NOT_ACCEPTED if problems or unproven or to_do else ExitCode.OK


def _verify_mutants(
    bank: "Bank",
    questions: "Iterable[Question]",
    devices: tuple[str, ...],
    write: Path | None,
    processes: int | None,
    *,
    whole: bool,
    as_json: bool,
) -> int:
    from proctorch.devices import CPU, VIRTUAL, choose
    from proctorch.files import check_folder

    if write:
        check_folder(write)
    try:
        from proctorch.verify import kills as proof
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        raise UsageError("--mutants needs libcst; install it with `pip install 'proctorch[authoring]'`") from None
    with progress() as advance:
        kills = proof.kill(
            bank,
            questions,
            choose(devices) if devices else (CPU, VIRTUAL),
            on_total=lambda total: advance("", total),
            on_mutant=advance,
            processes=processes,
        )
    total = proof.Total.of(kills) if whole else None
    if write:
        from proctorch.verify.page import write_page

        write_page(write, bank, kills)
    if as_json:
        print_json(
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
            + [
                {
                    "question": None,
                    "mutants": each.mutants,
                    "killed": each.killed,
                    "equivalent": each.equivalent,
                    "rate": round(each.rate, 4),
                    "problems": [each.problem] if each.problem else [],
                }
                for each in ([total] if total else [])
            ]
        )
    else:
        from proctorch import terminal

        terminal.console().print(terminal.kills_page(kills, total))
    if not any(each.played for each in kills):
        return ExitCode.NOTHING_GRADED
    problem = any(each.problems for each in kills) or (total and total.problem)
    return ExitCode.NOT_ACCEPTED if problem else ExitCode.OK
