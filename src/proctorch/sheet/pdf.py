"""A sheet as PDF, set by Typst: tagged (PDF/UA-1), with bookmarks, the same bytes for the same sheet."""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typst

from proctorch import markup, templating, typeset
from proctorch.errors import UsageError
from proctorch.sheet.logo import read_logo
from proctorch.sheet.sheet import Sheet
from proctorch.sheet.values import values

#: Copies in one file up to which each is a whole tagged document. Beyond, Typst would take gigabytes.
MOST_TAGGED = 100

_SERIF = ("Libertinus Serif",)
_EASY = ("OpenDyslexic", "Atkinson Hyperlegible", "Verdana", "DejaVu Sans", "Liberation Sans")
_MISSING = re.compile(r"the text `(\".*?\")` could not be displayed")
_TEMPLATE, _OVERLAY = "sheet.typ.j2", "copies.typ.j2"
#: The part of running text that code is as large as; the width of its signs, as a part of its size; one point in mm.
_CODE, _SIGN, _POINT = 0.75, 0.602, 25.4 / 72
#: Of a page that is not margin; A4 is the narrower paper. Numbers of lines take 2.2 em of it, their rule 6 points.
_LINE_MM, _NUMBERS, _RULE = 170.0, 2.2, 6.0
#: The day that the file itself bears: with the day of printing, no two files were the same.
_EPOCH = 0


@dataclass(frozen=True)
class Printed:
    """A PDF, and what the reader should know of it."""

    content: bytes
    warnings: tuple[str, ...] = ()


def render(
    sheet: Sheet,
    copies: Sequence[Mapping[str, str]] = ({},),
    *,
    templates: Path | None = None,
    fonts: Iterable[Path] = (),
) -> Printed:
    """The sheet, once for each of `copies`, which say what is filled into its fields (`name`, …).

    More than MOST_TAGGED copies are made as prints of one: the names are written over it, and the file has no tags.
    UsageError for a logo that is no picture, a language without a font here, or a fault in a team's own template.
    """
    with tempfile.TemporaryDirectory(prefix="proctorch-") as folder:
        press = _Press(Path(folder), sheet, templates, tuple(fonts))
        content = press.print(copies) if len(copies) <= MOST_TAGGED else press.print_over(copies)
        return Printed(content, tuple(press.warnings()))


class _Press:
    """One folder with all that Typst may read."""

    def __init__(self, folder: Path, sheet: Sheet, templates: Path | None, fonts: tuple[Path, ...]) -> None:
        self._folder = folder
        self._sheet = sheet
        self._templates = templates
        self._fonts = fonts
        # Typst's own fonts are found fastest, and give the same bytes on each machine.
        self._system = sheet.settings.dyslexia
        self._missing: list[str] = []
        self._over = False
        logo = read_logo(sheet.settings.logo)
        self._logo = f"logo{logo.suffix}" if logo else ""
        if logo:
            (folder / self._logo).write_bytes(logo.content)

    def print(self, copies: Sequence[Mapping[str, str]]) -> bytes:
        """The whole sheet for each copy, tagged."""
        code_points = self._sheet.settings.points * _CODE
        filled = values(self._sheet) | {
            "copies": copies,
            "logo": self._logo,
            "fonts": self._families(),
            "code_points": code_points,
            "columns": int((_LINE_MM / _POINT - _RULE - _NUMBERS * code_points) / (code_points * _SIGN)),
        }
        return self._typeset("sheet.typ", templating.render(_TEMPLATE, filled, folder=self._templates), tagged=True)

    def print_over(self, copies: Sequence[Mapping[str, str]]) -> bytes:
        """One sheet, printed for each copy, with the copy's own words over it."""
        (self._folder / "one.pdf").write_bytes(self.print([{}]))
        spots, [pages] = self._told_by("<spot>"), self._told_by("<copy-ends>")
        # A file without tags may have signs that no font has, and Typst does not say so: they are tried before.
        signs = sorted({sign for copy in copies for value in copy.values() for sign in markup.visible(value)})
        self._typeset("signs.typ", f"#set document(title: [signs])\n{typeset.text(''.join(signs))}", tagged=True)
        self._over = True
        filled = values(self._sheet) | {"copies": copies, "fonts": self._families(), "spots": spots, "pages": pages}
        source = templating.render(_OVERLAY, filled, folder=self._templates)
        return self._typeset("copies.typ", _numbered(source, self._missing), tagged=False)

    def _told_by(self, label: str) -> list[Any]:
        """What the metadata with this label say in the sheet that was set last."""
        found = typst.query(
            self._folder / "sheet.typ",
            label,
            field="value",
            root=self._folder,
            font_paths=list(self._fonts),
            ignore_system_fonts=not self._system,
        )
        return list(json.loads(found))

    def warnings(self) -> Iterator[str]:
        """What is to be told beside the PDF."""
        if self._over:
            yield f"more than {MOST_TAGGED} copies: this file is for a printer and has no tags for screen readers"
        if self._missing:
            named = ", ".join(f"{sign} (U+{ord(sign):04X})" for sign in dict.fromkeys(self._missing))
            yield f"no font here has {named}: shown as its number; --fonts DIR gives more fonts"

    def _typeset(self, name: str, source: str, *, tagged: bool) -> bytes:
        main = self._folder / name
        while True:
            main.write_text(source, encoding="utf-8")
            try:
                content = typst.compile(
                    main,
                    root=self._folder,
                    format="pdf",
                    font_paths=list(self._fonts),
                    ignore_system_fonts=not self._system,
                    timestamp=_EPOCH,
                    pdf_standards=["ua-1"] if tagged else [],
                    pdf_tags=tagged,
                )
            except typst.TypstError as error:
                signs = _undisplayed(error.diagnostic)
                if not signs:
                    raise _told(error) from error
                if self._system:
                    self._give_up(signs)
                    source = _numbered(source, signs)
                self._system = True  # a font of this machine may have them
            else:
                return content

    def _give_up(self, signs: Sequence[str]) -> None:
        """Notes the characters that no font has. UsageError if the sheet's own words cannot be shown."""
        words = self._sheet.settings.words
        if any(sign in word for sign in signs for word in words.values()):
            raise UsageError(
                f"no font here has the characters of {words['language']}: install one, such as Noto Sans CJK, or give"
                " its folder with --fonts"
            )
        self._missing += signs

    def _families(self) -> typeset.Typst:
        families = (*_EASY, *_SERIF) if self._sheet.settings.dyslexia else _SERIF
        known = set(typst.Fonts(include_system_fonts=self._system, font_paths=list(self._fonts)).families())
        return typeset.Typst(f"({', '.join(typeset.string(each) for each in families if each in known)},)")


def _numbered(source: str, signs: Iterable[str]) -> str:
    """The source with the numbers of these signs in their place."""
    return source.translate({ord(sign): f"⟨U+{ord(sign):04X}⟩" for sign in signs})


def _undisplayed(diagnostic: str) -> list[str]:
    """The characters that no font has, as Typst tells them."""
    told = (sign for quoted in _MISSING.findall(diagnostic) for sign in quoted[1:-1] if not sign.isascii())
    return list(dict.fromkeys(told))


def _told(error: typst.TypstError) -> UsageError:
    place = re.search(r"┌─ (\S+?):(\d+)", error.diagnostic)
    where = f" (line {place[2]} of what it became)" if place else ""
    return UsageError(f"{_TEMPLATE}: Typst cannot set this: {error.message}{where}")
