"""The commands that show questions and hand them out."""
# ruff: noqa: PLC0415 - see proctorch.cli

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctorch.cli.common import bank_option, complete_id, json_option, print_json
from proctorch.errors import UsageError

if TYPE_CHECKING:
    from proctorch.bank.question import Question
    from proctorch.bank.sets import QuestionSet


@click.command("list")
@click.argument("names", metavar="[ID]...", nargs=-1, shell_complete=complete_id)
@click.option("--topic", help="Only this topic, such as device-check.")
@click.option("--difficulty", type=click.IntRange(1, 5), help="Only this level.")
@click.option("--tag", help="Only questions with this tag.")
@click.option("--sets", "of_sets", is_flag=True, help="The sets of questions instead.")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the whole list as a page of Markdown, with what proof.md and coverage.yaml beside it say.",
)
@bank_option
@json_option
def list_(
    names: tuple[str, ...],
    topic: str | None,
    difficulty: int | None,
    tag: str | None,
    of_sets: bool,
    write: Path | None,
    bank: Path | None,
    as_json: bool,
) -> None:
    """List the questions of the bank, or those named: by ids, or by the sets that they are in."""
    from proctorch.bank.bank import Bank

    loaded = Bank.load(bank, parse_graders=False)
    if (of_sets or write) and (names or topic or difficulty or tag or (of_sets and write)):
        raise UsageError(f"{'--sets' if of_sets else '--write'} lists everything; leave the rest out")
    if write:
        from proctorch.bank.catalogue import write_questions_page

        write_questions_page(write, loaded)
        click.echo(f"questions: {write}", err=as_json)
        return
    if of_sets and as_json:
        print_json([_set_facts(each) for each in loaded.sets])
        return
    chosen = loaded.find_all(names) or loaded.questions
    questions = [each for each in loaded.select(topic=topic, difficulty=difficulty, tag=tag) if each in chosen]
    if as_json:
        print_json([_facts(each) for each in questions])
        return
    from proctorch import terminal

    table = terminal.set_table(loaded.sets) if of_sets else terminal.question_table(questions)
    terminal.console().print(table)


def _facts(question: "Question") -> dict[str, Any]:
    from proctorch.judge.grade import show_points

    return {
        "id": question.id,
        "code": question.code,
        "title": question.title,
        "topic": question.topic,
        "type": question.type.value,
        "difficulty": question.difficulty,
        "minutes": question.minutes,
        "points": show_points(question.points),
        "device": question.device.value,
        "tags": list(question.tags),
    }


def _set_facts(chosen: "QuestionSet") -> dict[str, Any]:
    from proctorch.judge.grade import show_points

    return {
        "id": chosen.id,
        "title": chosen.title,
        "purpose": chosen.purpose,
        "questions": [question.id for question in chosen.questions],
        "minutes": chosen.minutes,
        "points": show_points(chosen.points),
    }


@click.command()
@click.argument("name", metavar="ID", shell_complete=complete_id)
@bank_option
@json_option
def show(name: str, bank: Path | None, as_json: bool) -> None:
    """Show a question: prompt, what is checked, starter code, time and points. Or show a set of questions."""
    from proctorch.bank.bank import Bank
    from proctorch.judge.grade import show_points

    loaded = Bank.load(bank, parse_graders=False)
    if chosen := loaded.find_set(name):
        if as_json:
            print_json(_set_facts(chosen))
            return
        from proctorch import terminal

        terminal.console().print(terminal.set_page(chosen))
        return
    question = loaded.find(name)
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
@click.argument("name", metavar="ID", shell_complete=complete_id)
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@bank_option
def start(name: str, folder: Path, force: bool, bank: Path | None) -> None:
    """Write a question's starter file, or those of a set, into DIR (by default this folder)."""
    from proctorch.bank.bank import Bank
    from proctorch.files import replace_file

    questions = Bank.load(bank, parse_graders=False).find_all([name])
    targets = {question: folder / f"{question.module}.py" for question in questions}
    for target in targets.values():
        if target.exists() and not force:
            raise UsageError(f"{target} is there already; --force overwrites it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    option = f" --bank {bank}" if bank else ""
    for question, target in targets.items():
        replace_file(target, f"# proctorch: {question.id}\n{question.starter}")
        click.echo(f"{target}: the starter. Read the task with `proctorch show {question.id}{option}`, then")
        click.echo(f"  proctorch grade {target}{option}")


@click.command()
@click.argument("name", metavar="TOPIC/ID")
@bank_option
def new(name: str, bank: Path | None) -> None:
    """Write the files of a new question, for its author to go through; nothing is overwritten.

    Into the bank DIR, which is made if it is not there, or into this folder if it is a bank.
    """
    from proctorch.bank.skeleton import MARK, write_skeleton

    if bank is None and not Path("questions").is_dir():
        raise UsageError("this folder is no bank: it has no questions/; give one, or a new folder, with --bank DIR")
    for path in write_skeleton(bank or Path(), name):
        click.echo(path)
    question = name.partition("/")[2]
    click.echo(f"Go through what is marked `{MARK}`. What is left to do, and whether the grader is proven, says")
    click.echo(f"  proctorch verify {question} --bank {bank or '.'}")
