"""The commands that put questions on paper."""
# ruff: noqa: PLC0415 - see proctorch.cli

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctorch.cli.common import bank_option, complete_id, progress
from proctorch.errors import UsageError

if TYPE_CHECKING:
    from proctorch.bank.bank import Bank
    from proctorch.bank.question import Question
    from proctorch.sheet.settings import Settings


#: How sheets look: the options of every command that makes some.
_LOOK = (
    click.option("--title", help="Instead of the question's or the set's."),
    click.option("--organisation", help="Who asks."),
    click.option("--logo", type=click.Path(path_type=Path), metavar="FILE", help="A PNG or SVG picture."),
    click.option("--date", metavar="DAY", help="2026-11-30, or today."),
    click.option("--accent", metavar="COLOUR", help="Such as #1f5f8b."),
    click.option("--language", metavar="L", help="Of the fixed words: en, de or zh."),
    click.option("--paper", metavar="SIZE", help="a4 or letter."),
    click.option("--layout", metavar="L", help="pages: each question begins a page. flow: one after the other."),
    click.option(
        "--space",
        multiple=True,
        metavar="[ID=]KIND[:HEIGHT]",
        help="For handwriting: lines, grid, blank or none, such as grid:8cm; for one question ID=grid:8cm.",
    ),
    click.option("--font-size", type=float, metavar="PT", help="Of running text, in points."),
    click.option("--large-print", is_flag=True, default=None, help="16 points at least."),
    click.option("--dyslexia", is_flag=True, default=None, help="A plain font, wide lines."),
    click.option(
        "--field",
        "fields",
        multiple=True,
        metavar="F",
        help="To be filled in: name, date, identity, email, signature, or none.",
    ),
    click.option("--instructions", metavar="TEXT", help="The block at the head, in Markdown; empty for none."),
    click.option(
        "--templates",
        "own_templates",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        metavar="DIR",
        help="Your own; what is missing there is taken from the shipped ones.",
    ),
    click.option(
        "--fonts",
        multiple=True,
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        metavar="DIR",
        help="More fonts for PDF.",
    ),
)


def _look_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of `_LOOK`; their values reach it by their names."""
    for option in reversed(_LOOK):
        command = option(command)
    return command


@click.command()
@click.argument("names", metavar="[ID|SET]...", nargs=-1, shell_complete=complete_id)
@click.option("--topic", help="The questions of this topic.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Its suffix is the format: .pdf, .html, .md or .ipynb.",
)
@click.option(
    "--edition",
    type=click.Choice(["candidate", "interviewer", "key"]),
    default="candidate",
    show_default=True,
    help="interviewer: with card, rubric and a model solution; key: the solutions.",
)
@_look_options
@click.option(
    "--names",
    "people",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="A copy for each person; a column `name`, and others that are fields.",
)
@click.option("--separate", is_flag=True, help="With --names: a file for each person.")
@click.option("--draw", type=click.IntRange(min=1), metavar="N", help="Draw so many of the questions.")
@click.option(
    "--variants", type=click.IntRange(1, 100), metavar="N", help="So many sheets, each with its own order and form id."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="S",
    help="Of what is drawn; the same seed gives the same sheets and keys.",
)
@bank_option
def sheet(
    names: tuple[str, ...],
    topic: str | None,
    output: Path,
    edition: str,
    people: Path | None,
    separate: bool,
    draw: int | None,
    variants: int | None,
    seed: int | None,
    own_templates: Path | None,
    fonts: tuple[Path, ...],
    bank: Path | None,
    **given: Any,
) -> None:
    """Print questions: a sheet for candidates, an interviewer's edition, or an answer key.

    What a team always wants goes into `proctorch.yaml`, beside the bank's folders; options go before it.
    """
    from proctorch.bank.bank import Bank
    from proctorch.sheet import output as out
    from proctorch.sheet.names import read_names
    from proctorch.sheet.settings import Settings
    from proctorch.sheet.sheet import Edition, Sheet, drawn

    out.check(output)
    loaded = Bank.load(bank, parse_graders=False)
    questions, title = _chosen(loaded, names, topic)
    settings = _settings(loaded, given, Settings())
    if separate and not people:
        raise UsageError("--separate: it makes a file for each person of --names; give both")
    if seed is not None and not (draw or variants):
        raise UsageError("--seed: nothing is drawn; give --draw or --variants too")
    copies = read_names(people) if people else [{}]
    sheets = [
        Sheet.make(
            loaded,
            drawn(questions, seed=seed or 0, variant=variant, count=draw) if draw or variants else questions,
            Edition(edition),
            settings,
            title,
        )
        for variant in range(variants or 1)
    ]
    files = out.files(output, sheets, copies, separate=separate)
    with progress(len(files)) as advance:
        for file in files:
            for warning in file.write(templates=own_templates, fonts=fonts):
                click.echo(f"{file.path}: {warning}", err=True)
            advance(file.path.name)
    for file in files if len(files) < _SHOWN else files[:1]:
        click.echo(f"{file.path}: {file.told}")
    if len(files) >= _SHOWN:
        click.echo(f"… {len(files)} files")


@click.command()
@click.argument("names", metavar="[ID|SET]...", nargs=-1, shell_complete=complete_id)
@click.option("--topic", help="The questions of this topic.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.zip", help="The kit.")
@click.option("--grader", is_flag=True, help="The other half, for the interviewer's machine.")
@_look_options
@bank_option
def kit(
    names: tuple[str, ...],
    topic: str | None,
    output: Path,
    bank: Path | None,
    own_templates: Path | None,
    fonts: tuple[Path, ...],
    *,
    grader: bool,
    **given: Any,
) -> None:
    """Pack what a candidate gets: sheet, starters, notebooks, and a self-check of what the sheet shows.

    Nothing hidden is in it. What comes back, a zip, is graded as it is. With --grader: graders, solutions, the
    interviewer's edition and the key, for the machine that grades.
    """
    from proctorch.bank.bank import Bank
    from proctorch.files import check_folder, replace_file
    from proctorch.sheet.kit import Look, candidate_kit, grader_kit
    from proctorch.sheet.settings import Room, Settings, Space

    if output.suffix.lower() != ".zip":
        raise UsageError(f"{output}: a kit is a zip; give a name that ends in .zip")
    check_folder(output)
    loaded = Bank.load(bank, parse_graders=False)
    questions, title = _chosen(loaded, names, topic)
    # Answers are files, and whose they are is told by who sends them: the sheet has no room for either.
    default = Settings() if grader else Settings(room=Room(Space.NONE), fields=())
    look = Look(_settings(loaded, given, default), own_templates, fonts)
    # By the question's id, however it was asked for: the same questions are the same bytes.
    folder = questions[0].id if len(questions) == 1 else names[0] if len(names) == 1 else topic or "kit"
    make = grader_kit if grader else candidate_kit
    with progress() as advance:
        made = make(loaded, questions, folder, title, look, advance)
        replace_file(output, made.content)
    for warning in made.warnings:
        click.echo(f"{output}: {warning}", err=True)
    count = f"{len(questions)} question{'s' if len(questions) > 1 else ''}"
    click.echo(f"{output}: {count}, {len(made.files)} files, form {made.form}")


#: As many files are named one by one.
_SHOWN = 20


def _chosen(bank: "Bank", names: tuple[str, ...], topic: str | None) -> "tuple[tuple[Question, ...], str]":
    """The questions, and what they are called together."""
    if topic and names:
        raise UsageError("--topic takes all questions of a topic; give that, or ids")
    if topic:
        return bank.select(topic=topic), topic.replace("-", " ").capitalize()
    if not names:
        raise UsageError("name a question, a set or a --topic; `proctorch list` shows them")
    questions = bank.find_all(names)
    chosen = bank.find_set(names[0]) if len(names) == 1 else None
    return questions, chosen.title if chosen else questions[0].title if len(questions) == 1 else "PyTorch and devices"


def _settings(bank: "Bank", given: dict[str, Any], default: "Settings") -> "Settings":
    """The defaults, changed by the team's settings, and those by the options."""
    from proctorch.bank.team import read_team
    from proctorch.sheet.settings import SettingError, changed

    team = read_team(bank.root)
    try:
        settings = changed(default, team.sheet, bank.root)
    except SettingError as error:
        raise team.fault(error.name, error.told) from None
    options = {name: list(value) or None if isinstance(value, tuple) else value for name, value in given.items()}
    try:
        settings = changed(settings, options, Path())
    except SettingError as error:
        raise UsageError(f"--{error.name.replace('_', '-').replace('fields', 'field')}: {error.told}") from None
    known = {question.id for question in bank.questions}
    if unknown := [name for name in settings.rooms if name not in known]:
        bank.find(unknown[0])  # says so, and what is near
    return settings


@click.group()
def templates() -> None:
    """The Jinja templates of sheets and reports."""


@templates.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def eject(folder: Path) -> None:
    """Copy the shipped templates into DIR, to be changed and given as --templates. Never over a file that is there."""
    from proctorch.files import replace_file
    from proctorch.shipped import default_bank

    sources = sorted(each for each in (default_bank() / "templates").iterdir() if each.is_file())
    if there := [each.name for each in sources if (folder / each.name).exists()]:
        raise UsageError(f"{folder / there[0]} is there already; name a new folder, or move it away")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    for source in sources:
        replace_file(folder / source.name, source.read_bytes())
        click.echo(f"{folder / source.name}")
