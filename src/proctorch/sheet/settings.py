"""How sheets look and what they say beside the questions: options, over `proctorch.yaml`, over the defaults."""

import dataclasses
import datetime as dt
import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from proctorch.bank.text import nearest
from proctorch.errors import UsageError
from proctorch.prose import unset
from proctorch.sheet.words import CATALOGUE, date_in_words


class Paper(enum.Enum):
    """A size of paper, and its width in millimetres."""

    A4 = "a4"
    LETTER = "letter"


class Layout(enum.Enum):
    """How questions follow each other."""

    #: Each begins on a page of its own.
    PAGES = "pages"
    FLOW = "flow"


class Space(enum.Enum):
    """What stands in the room for handwriting."""

    NONE = "none"
    LINES = "lines"
    GRID = "grid"
    BLANK = "blank"


@dataclass(frozen=True)
class Room:
    """The room for handwriting after a question: what stands in it, and its height in millimetres."""

    space: Space = Space.LINES
    millimetres: float = 60.0


_ROOM = re.compile(r"(none|lines|grid|blank)(?::([0-9]+(?:\.[0-9]+)?)(mm|cm|in))?")
_MILLIMETRES = {"mm": 1.0, "cm": 10.0, "in": 25.4}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
FIELDS = ("name", "date", "identity", "email", "signature")


@dataclass(frozen=True)
class Settings:
    """What a team decides about its sheets."""

    #: Instead of the question's or the set's own title.
    title: str = ""
    organisation: str = ""
    #: A PNG or SVG file.
    logo: Path | None = None
    #: As the language writes it; empty for none.
    date: str = ""
    #: `#rrggbb`.
    accent: str = "#1f5f8b"
    language: str = "en"
    paper: Paper = Paper.A4
    layout: Layout = Layout.PAGES
    room: Room = field(default_factory=Room)
    #: By question id.
    rooms: Mapping[str, Room] = field(default_factory=dict)
    #: Of running text, in points.
    font_size: float = 10.0
    large_print: bool = False
    dyslexia: bool = False
    fields: tuple[str, ...] = ("name", "date")
    #: Markdown; None for the words of the catalogue, empty for no such block.
    instructions: str | None = None

    @property
    def words(self) -> Mapping[str, str]:
        return CATALOGUE[self.language]

    @property
    def points(self) -> float:
        """The size of running text that is used, in points. Large print has at least 16."""
        return max(self.font_size, 16.0) if self.large_print else self.font_size

    @property
    def accent_text(self) -> str:
        """The accent for text on white: darker, where it is too pale to be read."""
        return _readable(self.accent, "#ffffff", "#000000")

    @property
    def accent_text_dark(self) -> str:
        """The accent for text on a dark screen: paler, where it is too dark to be read."""
        return _readable(self.accent, "#1d2024", "#ffffff")

    def room_of(self, question_id: str) -> Room:
        return self.rooms.get(question_id, self.room)


def _readable(colour: str, ground: str, ink: str) -> str:
    """`colour` with as little `ink` as gives text on `ground` a contrast of 5; 4.5 is what WCAG asks for."""
    for share in range(101):
        parts = zip(_parts(colour), _parts(ink), strict=True)
        mixed = "#" + "".join(f"{round((one * (100 - share) + other * share) / 100):02x}" for one, other in parts)
        darker, lighter = sorted((_luminance(mixed), _luminance(ground)))
        if (lighter + 0.05) / (darker + 0.05) >= 5:
            return mixed
    return ink


def _parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    """From 0 for black to 1 for white, as WCAG 2 defines it."""
    shares = [part / 255 for part in _parts(colour)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class SettingError(UsageError):
    """A setting cannot be what it was given as. `name` is the setting."""

    def __init__(self, name: str, told: str) -> None:
        super().__init__(f"{name}: {told}")
        self.name = name
        self.told = told


def changed(settings: Settings, given: Mapping[str, object], folder: Path) -> Settings:
    """`settings` with what is `given` by name, as text, numbers, true or false, or a list; None changes nothing.

    Paths are relative to `folder`. SettingError for a name or a value that cannot be.
    """
    values: dict[str, Any] = {}
    # The date is written in the language, which may be given beside it.
    for name, value in sorted(given.items(), key=lambda pair: pair[0] == "date"):
        if value is None:
            continue
        if name not in _READERS:
            raise SettingError(name, f"is no setting{nearest(name, _READERS)}")
        try:
            values |= _READERS[name](value, {"language": settings.language, "rooms": settings.rooms} | values, folder)
        except ValueError as error:
            raise SettingError(name, str(error)) from None
    return dataclasses.replace(settings, **values)


_Known = Mapping[str, Any]


def _text(name: str) -> "_Reader":
    def read(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
        if not isinstance(value, str):
            raise ValueError("is not a text; put it in quotes")  # noqa: TRY004 - as for every other fault of a setting
        return {name: value.strip()}

    return read


def _choice(name: str, kinds: type[enum.Enum]) -> "_Reader":
    def read(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
        known = [each.value for each in kinds]
        if value not in known:
            raise ValueError(f"`{value}` is not one of {', '.join(known)}")
        return {name: kinds(value)}

    return read


def _flag(name: str) -> "_Reader":
    def read(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
        if not isinstance(value, bool):
            raise ValueError("is neither true nor false")  # noqa: TRY004 - as above
        return {name: value}

    return read


def _logo(value: object, _known: _Known, folder: Path) -> dict[str, object]:
    return {"logo": folder / str(value)}


def _date(value: object, known: _Known, _folder: Path) -> dict[str, object]:
    try:
        # The day of this machine's clock is what a reader of the sheet calls today.
        day = dt.datetime.now().astimezone().date() if value == "today" else dt.date.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"`{value}` is no day; write it as 2026-11-30 (in quotes in YAML), or today") from None
    return {"date": date_in_words(day, known["language"])}


def _accent(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
    if not _COLOUR.fullmatch(str(value)):
        raise ValueError(f"`{value}` is no colour; write # and six hexadecimal digits, such as #1f5f8b")
    return {"accent": str(value).lower()}


def _language(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
    if value not in CATALOGUE:
        raise ValueError(f"`{value}` is not one of {', '.join(CATALOGUE)}")
    return {"language": value}


def _font_size(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
    size = float(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else 0.0
    if not 6 <= size <= 36:
        raise ValueError(f"`{value}` is not 6 to 36 points")
    return {"font_size": size}


def _fields(value: object, _known: _Known, _folder: Path) -> dict[str, object]:
    names = list(value) if isinstance(value, list | tuple) else [value]
    if wrong := [each for each in names if each not in (*FIELDS, "none")]:
        raise ValueError(f"`{wrong[0]}` is not one of {', '.join(FIELDS)}, none")
    return {"fields": tuple(each for each in dict.fromkeys(names) if each != "none")}


def _space(value: object, known: _Known, _folder: Path) -> dict[str, object]:
    """`grid:8cm` for all questions, `half-moved-batch=none` for one; several are a list."""
    found: dict[str, object] = {}
    rooms = dict(known["rooms"])
    for each in value if isinstance(value, list | tuple) else [value]:
        name, equals, written = str(each).rpartition("=")
        room = _room(written)
        if equals:
            rooms[name] = room
        else:
            found["room"] = room
    return found | {"rooms": rooms}


def _room(written: str) -> Room:
    found = _ROOM.fullmatch(written.strip())
    if not found:
        raise ValueError(f"`{written}`: write lines, grid, blank or none, with a height if you like, such as grid:8cm")
    height = float(found[2]) * _MILLIMETRES[found[3]] if found[2] else Room().millimetres
    if not 5 <= height <= 1000:
        raise ValueError(f"`{written}`: a height is 5 mm to 1000 mm")
    return Room(Space(found[1]), height)


def _instructions(value: object, known: _Known, folder: Path) -> dict[str, object]:
    read = _text("instructions")(value, known, folder)
    if faults := unset(str(read["instructions"])):
        raise ValueError(f"has {faults[0].message}")
    return read


_Reader = Callable[[object, _Known, Path], dict[str, object]]
_READERS: dict[str, _Reader] = {
    "title": _text("title"),
    "organisation": _text("organisation"),
    "logo": _logo,
    "date": _date,
    "accent": _accent,
    "language": _language,
    "paper": _choice("paper", Paper),
    "layout": _choice("layout", Layout),
    "space": _space,
    "font_size": _font_size,
    "large_print": _flag("large_print"),
    "dyslexia": _flag("dyslexia"),
    "fields": _fields,
    "instructions": _instructions,
}
#: The names of all settings, as `proctorch.yaml` has them.
NAMES = tuple(_READERS)
