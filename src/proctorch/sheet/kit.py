"""Kits: what a candidate gets, and what the interviewer keeps, each as one zip with the same bytes every time."""

import dataclasses
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.sheet import html, markdown, notebook, pdf
from proctorch.sheet.settings import Settings
from proctorch.sheet.sheet import Edition, Sheet

#: The first day that a zip can name: the day of making would be different bytes every day.
_DAY = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_UNIX = 3


@dataclass(frozen=True)
class Kit:
    """A folder of files as a zip."""

    #: The folder that it unpacks to.
    folder: str
    #: By their names in the folder.
    files: Mapping[str, bytes]
    form: str
    #: What is to be told about the sheets in it.
    warnings: tuple[str, ...]

    @property
    def content(self) -> bytes:
        """The zip. Nothing in it is compressed: what comes out of a compressor depends on its version."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as opened:
            for name, content in sorted(self.files.items()):
                entry = zipfile.ZipInfo(f"{self.folder}/{name}", _DAY)
                entry.external_attr, entry.create_system = _PLAIN_FILE, _UNIX
                opened.writestr(entry, content)
        return archive.getvalue()


@dataclass(frozen=True)
class Look:
    """How the sheets of a kit look."""

    settings: Settings
    templates: Path | None = None
    fonts: Sequence[Path] = ()


def candidate_kit(
    bank: Bank,
    questions: Sequence[Question],
    folder: str,
    title: str,
    look: Look,
    on_file: Callable[[str], None] = lambda _: None,
) -> Kit:
    """What a candidate gets: the sheet, and of each question the starter, a notebook and the self-check; a README.

    Nothing that is hidden is read for it. `on_file` is called with the name of each thing that is made.
    """
    sheet = Sheet.make(bank, questions, Edition.CANDIDATE, look.settings, title)
    files, warnings = _sheet_files(sheet, "sheet", look, on_file)
    for item in sheet.items:
        question = item.question
        alone = dataclasses.replace(sheet, title=question.title, items=(item,))
        files[f"{question.module}.py"] = f"# proctorch: {question.id}\n{question.starter}".encode()
        files[f"{question.module}.ipynb"] = notebook.render(alone).encode()
        if question.self_check:
            files[f"test_{question.module}.py"] = _self_check(question).encode()
        on_file(question.module)
    files["README.md"] = markdown.render(sheet, template="kit.md.j2", templates=look.templates).encode()
    return Kit(folder, files, sheet.form, warnings)


def grader_kit(
    bank: Bank,
    questions: Sequence[Question],
    folder: str,
    title: str,
    look: Look,
    on_file: Callable[[str], None] = lambda _: None,
) -> Kit:
    """The other half, for the interviewer's machine: the questions as a bank, both editions for the desk, a README."""
    files: dict[str, bytes] = {}
    warnings: list[str] = []
    for edition, name in ((Edition.INTERVIEWER, "interviewer"), (Edition.KEY, "key")):
        sheet = Sheet.make(bank, questions, edition, look.settings, title)
        more, told = _sheet_files(sheet, name, look, on_file)
        files |= more
        warnings += told
    for path in _bank_files(bank, questions):
        files[f"bank/{path.relative_to(bank.root).as_posix()}"] = path.read_bytes()
    files["README.md"] = markdown.render(sheet, template="grader_kit.md.j2", templates=look.templates).encode()
    return Kit(f"{folder}-grader", files, sheet.form, tuple(dict.fromkeys(warnings)))


def _sheet_files(
    sheet: Sheet, name: str, look: Look, on_file: Callable[[str], None]
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The sheet as PDF and as a page, and what is to be told about it."""
    printed = pdf.render(sheet, templates=look.templates, fonts=look.fonts)
    on_file(f"{name}.pdf")
    page = html.render(sheet, templates=look.templates)
    on_file(f"{name}.html")
    return {f"{name}.pdf": printed.content, f"{name}.html": page.encode()}, printed.warnings


def _self_check(question: Question) -> str:
    """The self-check as a file of pytest, which imports the answer from beside it."""
    names = ", ".join(entry.name for entry in question.entry)
    return (
        f'"""What the sheet shows of "{question.title}", to be tried: python -m pytest test_{question.module}.py\n\n'
        f'The hidden checks look at more.\n"""\n\nfrom {question.module} import {names}\n\n{question.self_check}'
    )


def _bank_files(bank: Bank, questions: Sequence[Question]) -> Iterable[Path]:
    """What a bank of these questions consists of, with the sets that have no others."""
    for question in questions:
        yield from bank.files_of(question)
    yield from (each.path for each in bank.sets if set(each.questions) <= set(questions))
