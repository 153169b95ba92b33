"""What several commands share: options, completion, progress, and how JSON is printed."""
# ruff: noqa: PLC0415 - see proctorch.cli

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from proctorch.errors import ProctorchError

_Command = TypeVar("_Command", bound=Callable[..., Any])


def complete_id(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from proctorch.bank.bank import Bank

    try:
        bank = Bank.load(context.params.get("bank"), parse_graders=False)
    except ProctorchError:
        return []
    titles = {each.id: each.title for each in bank.questions} | {each.id: each.title for each in bank.sets}
    return [CompletionItem(name, help=title) for name, title in titles.items() if name.startswith(incomplete)]


def bank_option(command: _Command) -> _Command:
    return click.option(
        "--bank",
        type=click.Path(path_type=Path),
        envvar="PROCTORCH_BANK",
        metavar="DIR",
        help="The folder of questions; the default bank if not given.",
    )(command)


def json_option(command: _Command) -> _Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")(command)


def device_option(command: _Command) -> _Command:
    return click.option(
        "--device",
        "devices",
        multiple=True,
        metavar="D",
        help="A device, such as cpu or cuda:0; may be repeated. By default every real device that is here.",
    )(command)


def audience_option(command: _Command) -> _Command:
    return click.option(
        "--for",
        "audience",
        type=click.Choice(["candidate", "interviewer"]),
        help="candidate: no test code, no expected values, no interview card. interviewer: everything.",
    )(command)


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


@contextmanager
def progress(total: int | None = None) -> Iterator[Callable[..., None]]:
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
