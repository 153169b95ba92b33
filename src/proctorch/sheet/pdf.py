"""A sheet as PDF, set by Typst: tagged (PDF/UA-1), with bookmarks, the same bytes for the same sheet."""

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typst

from proctorch import templating, typeset
from proctorch.errors import ProctorchError, UsageError
from proctorch.sheet.sheet import Sheet
from proctorch.sheet.values import values

#: Copies in one file up to which each is a whole tagged document. Beyond, Typst would take gigabytes.
MOST_TAGGED = 200

_SERIF = ("Libertinus Serif",)
_EASY = ("OpenDyslexic", "Atkinson Hyperlegible", "Verdana", "DejaVu Sans", "Liberation Sans")
_MISSING = re.compile(r"the text `(\".*?\")` could not be displayed")
_EPOCH = 0  # of the file's own date, which would otherwise be the day of printing


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

    UsageError for a logo that is no picture, a language without a font here, or a fault in a team's own template.
    """
    with tempfile.TemporaryDirectory(prefix="proctorch-") as folder:
        press = _Press(Path(folder), tuple(fonts), easy=sheet.settings.dyslexia)
        return press.print(sheet, copies, templates)


class _Press:
    """One folder with all that Typst may read."""

    def __init__(self, folder: Path, fonts: tuple[Path, ...], *, easy: bool) -> None:
        self._folder = folder
        self._fonts = fonts
        # Typst's own fonts are found fastest, and give the same bytes on each machine.
        self._system = easy

    def print(self, sheet: Sheet, copies: Sequence[Mapping[str, str]], templates: Path | None) -> Printed:
        filled = values(sheet) | {"copies": copies, "logo": self._logo(sheet), "fonts": self._families(sheet)}
        if sheet.settings.logo and not filled["logo"]:
            raise UsageError(f"{sheet.settings.logo}: is neither a PNG nor an SVG picture")
        source = templating.render("sheet.typ.j2", filled, folder=templates)
        return self._typeset(source, sheet)

    def _typeset(self, source: str, sheet: Sheet) -> Printed:
        missing: list[str] = []
        while True:
            main = self._folder / "sheet.typ"
            main.write_text(source, encoding="utf-8")
            try:
                content = typst.compile(
                    main,
                    root=self._folder,
                    format="pdf",
                    font_paths=list(self._fonts),
                    ignore_system_fonts=not self._system,
                    pdf_standards="ua-1",
                    timestamp=_EPOCH,
                )
            except typst.TypstError as error:
                signs = _undisplayed(error.diagnostic)
                if not signs:
                    raise _told(error) from error
                if not self._system:
                    self._system = True
                    continue
                missing += signs
                for sign in signs:
                    source = source.replace(sign, f"⟨U+{ord(sign):04X}⟩")
                continue
            assert isinstance(content, bytes)
            return Printed(content, tuple(_warnings(missing, sheet)))

    def _logo(self, sheet: Sheet) -> str:
        """The name of a copy of the logo in the folder; empty if there is none or it is no picture."""
        if sheet.settings.logo is None:
            return ""
        try:
            content = sheet.settings.logo.read_bytes()
        except OSError as error:
            raise UsageError(f"{sheet.settings.logo}: cannot be read: {error.strerror}") from None
        suffix = ".png" if content.startswith(b"\x89PNG\r\n\x1a\n") else ".svg" if b"<svg" in content[:4096] else ""
        if suffix:
            (self._folder / f"logo{suffix}").write_bytes(content)
        return f"logo{suffix}" if suffix else ""

    def _families(self, sheet: Sheet) -> typeset.Typst:
        families = (*_EASY, *_SERIF) if sheet.settings.dyslexia else _SERIF
        known = set(typst.Fonts(include_system_fonts=self._system, font_paths=list(self._fonts)).families())
        named = [family for family in families if family in known]
        return typeset.Typst(f"({', '.join(typeset.string(each) for each in named)},)")


def _undisplayed(diagnostic: str) -> list[str]:
    """The characters that no font has, as Typst tells them."""
    return list(dict.fromkeys(sign for quoted in _MISSING.findall(diagnostic) for sign in quoted[1:-1] if not sign.isascii()))


def _warnings(missing: Sequence[str], sheet: Sheet) -> Iterable[str]:
    if not missing:
        return
    if any(sign in word for sign in missing for word in sheet.settings.words.values()):
        language = sheet.settings.words["language"]
        raise UsageError(
            f"no font here has the characters of {language}: install one, such as Noto Sans CJK, or give its folder"
            " with --fonts"
        )
    named = ", ".join(f"{sign} (U+{ord(sign):04X})" for sign in dict.fromkeys(missing))
    yield f"no font here has {named}: shown as its number; --fonts DIR gives more fonts"


def _told(error: typst.TypstError) -> ProctorchError:
    place = re.search(r"┌─ (\S+?):(\d+)", error.diagnostic)
    where = f" (line {place[2]} of what sheet.typ.j2 became)" if place else ""
    return UsageError(f"sheet.typ.j2: Typst cannot set this: {error.message}{where}")
