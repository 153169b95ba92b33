"""A sheet as data: which questions, in which order, for whom. How it looks is up to the formats beside this file."""

import enum
import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.errors import UsageError
from proctorch.sheet.settings import Room, Settings

#: Letters and digits that nobody takes for another; no vowels, so that no word comes of them.
_SIGNS = "23456789BCDFGHJKLMNPQRSTVWXYZ"


class Edition(enum.Enum):
    """Whom a sheet is for."""

    CANDIDATE = "candidate"
    INTERVIEWER = "interviewer"
    KEY = "key"


@dataclass(frozen=True)
class Solution:
    """An accepted solution, as it is printed."""

    name: str
    source: str


@dataclass(frozen=True)
class Item:
    """A question on a sheet."""

    number: int
    question: Question
    #: The minutes of the interview at which it begins and ends.
    begins: int
    ends: int
    room: Room
    #: The accepted ones, for those who may see them; the first is the model.
    solutions: tuple[Solution, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """Questions for one sitting. Two editions of the same questions in the same order have the same form id."""

    title: str
    edition: Edition
    items: tuple[Item, ...]
    settings: Settings
    #: Such as `K7Q-F2M`. It stands on each page, so that sheet and key cannot be mixed up.
    form: str

    @classmethod
    def make(
        cls, bank: Bank, questions: Sequence[Question], edition: Edition, settings: Settings, title: str
    ) -> "Sheet":
        """A sheet of the questions in their order. UsageError if there are none."""
        if not questions:
            raise UsageError("no question is left for the sheet")
        items, minutes = [], 0
        for number, question in enumerate(questions, 1):
            solutions = () if edition is Edition.CANDIDATE else tuple(_solutions(question))
            ends = minutes + question.minutes
            items.append(Item(number, question, minutes, ends, settings.room_of(question.id), solutions))
            minutes = ends
        return cls(settings.title or title, edition, tuple(items), settings, _form(bank, questions))

    @property
    def minutes(self) -> int:
        return sum(item.question.minutes for item in self.items)

    @property
    def points(self) -> Fraction:
        return sum((item.question.points for item in self.items), Fraction(0))


def drawn(questions: Sequence[Question], *, seed: int, variant: int, count: int | None) -> tuple[Question, ...]:
    """`count` of the questions (all by default) in an order of their own. The same seed and variant give the same."""
    if count is not None and not 1 <= count <= len(questions):
        raise UsageError(f"{count} questions cannot be drawn from {len(questions)}")
    dice = random.Random(f"{seed}/{variant}")  # noqa: S311 - a draw that can be repeated, no secret
    return tuple(dice.sample(list(questions), count or len(questions)))


def _solutions(question: Question) -> Iterable[Solution]:
    for path in sorted((question.solutions / "accepted").glob("*.py")):
        yield Solution(path.stem.replace("_", " "), path.read_text(encoding="utf-8"))


def _form(bank: Bank, questions: Iterable[Question]) -> str:
    digest = hashlib.sha256()
    for question in questions:
        digest.update(f"{question.id}\0{bank.digest_of(question)}\0".encode())
    number = int.from_bytes(digest.digest()[:8])
    signs = "".join(_SIGNS[number // len(_SIGNS) ** at % len(_SIGNS)] for at in range(6))
    return f"{signs[:3]}-{signs[3:]}"
