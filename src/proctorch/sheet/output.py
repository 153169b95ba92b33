"""Sheets as files: which format, which names, and each written whole or not at all."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctorch.errors import UsageError
from proctorch.files import check_folder, replace_file
from proctorch.sheet.sheet import Sheet

FORMATS = (".html", ".ipynb", ".md", ".pdf")


@dataclass(frozen=True)
class File:
    """One file to be written."""

    path: Path
    sheet: Sheet
    copies: Sequence[Mapping[str, str]]

    @property
    def told(self) -> str:
        """What is in it, in a few words."""
        number = len(self.sheet.items)
        parts = [
            f"{number} question{'s' if number > 1 else ''}",
            f"{self.sheet.minutes} min",
            f"form {self.sheet.form}",
        ]
        if len(self.copies) > 1:
            parts.insert(0, f"{len(self.copies)} copies")
        return ", ".join(parts)

    def write(self, *, templates: Path | None, fonts: Iterable[Path]) -> tuple[str, ...]:
        """Writes it; what is to be told about it comes back. UsageError says what prevents it."""
        match self.path.suffix.lower():
            case ".pdf":
                from proctorch.sheet import pdf  # noqa: PLC0415 - with it comes Typst

                printed = pdf.render(self.sheet, self.copies, templates=templates, fonts=fonts)
                replace_file(self.path, printed.content)
                return printed.warnings
            case ".html":
                from proctorch.sheet import html  # noqa: PLC0415 - one format is wanted

                replace_file(self.path, html.render(self.sheet, self.copies[0], templates=templates))
            case ".md":
                from proctorch.sheet import markdown  # noqa: PLC0415 - as above

                replace_file(self.path, markdown.render(self.sheet, self.copies[0], templates=templates))
            case _:
                from proctorch.sheet import notebook  # noqa: PLC0415 - as above

                replace_file(self.path, notebook.render(self.sheet))
        return ()


def check(path: Path) -> None:
    """UsageError unless a sheet can be written there: its suffix is a format's, and its folder is there."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: a sheet is written as {', '.join(FORMATS)}, by the file's suffix")
    check_folder(path)


def files(path: Path, sheets: Sequence[Sheet], copies: Sequence[Mapping[str, str]], *, separate: bool) -> list[File]:
    """The files for all variants and copies. Copies are dealt out to the variants in turn.

    Several variants are `sheet-1.pdf`, `sheet-2.pdf`, …; separate copies bear their number and name.
    """
    if len(copies) > 1 and not separate and path.suffix.lower() != ".pdf":
        raise UsageError(f"{path}: many copies in one file are a PDF; add --separate for a file each")
    found = []
    digits = len(str(len(copies)))
    for number, sheet in enumerate(sheets):
        mine = [*enumerate(copies, 1)]
        if len(copies) > 1:
            mine = mine[number :: len(sheets)]
        target = path if len(sheets) == 1 else path.with_stem(f"{path.stem}-{number + 1}")
        if separate:
            stems = (f"{target.stem}-{at:0{digits}}-{_slug(copy['name'])}" for at, copy in mine)
            found += [File(target.with_stem(stem), sheet, [copy]) for stem, (_, copy) in zip(stems, mine, strict=True)]
        elif mine:
            found.append(File(target, sheet, [copy for _, copy in mine]))
    return found


def _slug(name: str) -> str:
    """A name as a part of a file's name: letters and digits of any script, joined by hyphens."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", name))
    return "-".join(words)[:60] or "candidate"
