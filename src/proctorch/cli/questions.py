"""The commands that show questions and hand them out."""
# ruff: noqa: PLC0415 - see proctorch.cli

from pathlib import Path

import click

from proctorch.cli.common import bank_option, complete_id, json_option, print_json
from proctorch.errors import UsageError


@click.command("list")
@click.option("--topic", help="Only this topic, such as device-check.")
@click.option("--difficulty", type=click.IntRange(1, 5), help="Only this level.")
@click.option("--tag", help="Only questions with this tag.")
@bank_option
@json_option
def list_(topic: str | None, difficulty: int | None, tag: str | None, bank: Path | None, as_json: bool) -> None:
    """List the questions of the bank."""
    from proctorch.bank.bank import Bank
    from proctorch.judge.grade import show_points

    questions = Bank.load(bank, parse_graders=False).select(topic=topic, difficulty=difficulty, tag=tag)
    if as_json:
        print_json(
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


@click.command()
@click.argument("question_id", metavar="ID", shell_complete=complete_id)
@bank_option
@json_option
def show(question_id: str, bank: Path | None, as_json: bool) -> None:
    """Show a question: prompt, what is checked, starter code, time and points."""
    from proctorch.bank.bank import Bank
    from proctorch.judge.grade import show_points

    question = Bank.load(bank, parse_graders=False).find(question_id)
    if as_json:
        checks = [{"title": check.title, "points": show_points(check.points)} for check in question.checks]
        print_json(
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


@click.command()
@click.argument("question_id", metavar="ID", shell_complete=complete_id)
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@bank_option
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
