"""The commands about this machine and about the formats."""
# ruff: noqa: PLC0415 - see proctorch.cli

import sys
from pathlib import Path

import click

from proctorch.cli.common import bank_option, json_option, print_json
from proctorch.errors import ExitCode


@click.command()
@click.option(
    "--virtual",
    "sample",
    is_flag=False,
    flag_value=12,
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Compare the virtual accelerator with its tables, and with the CPU on every N-th operator (12; 1 for all).",
)
@bank_option
@json_option
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
        print_json({"facts": facts, "problems": list(found.problems)})
    else:
        from proctorch import terminal

        terminal.console().print(terminal.facts_page("This machine", found.facts))
        for problem in found.problems:
            click.echo(f"problem: {problem}", err=True)
    return ExitCode.JUDGE_ERROR if found.problems else ExitCode.OK


@click.command()
@click.option("--report", "of_report", is_flag=True, help="The schema of a saved report instead.")
def schema(of_report: bool) -> None:
    """Print the JSON schema of a question file, for editors."""
    from proctorch.bank.schema import json_schema
    from proctorch.report.json import report_schema

    print_json(report_schema() if of_report else json_schema())
