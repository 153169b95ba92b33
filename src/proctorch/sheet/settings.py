"""How sheets look and what they say beside the questions: options, over a team's `proctorch.yaml`, over the defaults."""

import datetime
import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctorch.errors import UsageError
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

    def room_of(self, question_id: str) -> Room:
        return self.rooms.get(question_id, self.room)


def parse_room(written: str) -> Room:
    """`lines`, `grid:8cm`, `none`, … as a Room; UsageError for anything else."""
    found = _ROOM.fullmatch(written.strip())
    if not found:
        raise UsageError(f"space `{written}`: write lines, grid, blank or none, with a height if you like, such as grid:8cm")
    height = float(found[2]) * _MILLIMETRES[found[3]] if found[2] else Room().millimetres
    if not 5 <= height <= 1000:
        raise UsageError(f"space `{written}`: a height is 5 mm to 1000 mm")
    return Room(Space(found[1]), height)


def parse_colour(written: str) -> str:
    """`#rrggbb`, or UsageError."""
    if not _COLOUR.fullmatch(written):
        raise UsageError(f"accent `{written}`: write a colour as # and six hexadecimal digits, such as #1f5f8b")
    return written.lower()


def parse_date(written: str, language: str) -> str:
    """An ISO date, or `today`, in the words of the language; UsageError for anything else."""
    try:
        day = datetime.date.today() if written == "today" else datetime.date.fromisoformat(written)  # noqa: DTZ011 - the day here
    except ValueError:
        raise UsageError(f"date `{written}`: write it as 2026-11-30, or today") from None
    return date_in_words(day, language)
