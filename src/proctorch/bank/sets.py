"""Sets of questions for an occasion: `questions/sets/<id>.yaml`, which says their minutes and points together."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from proctorch.bank import yaml_nodes
from proctorch.bank.question import Question
from proctorch.bank.text import Fault, nearest, shortened
from proctorch.bank.yaml_nodes import Document, Location

_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: Of each key, what belongs there.
_KEYS = {
    "schema": "the layout of the file, `schema: 1`",
    "title": "one line that names the set",
    "purpose": "what the set is for",
    "questions": "a list of ids",
    "minutes": "the minutes of its questions together",
    "points": "the points of its questions together",
}


@dataclass(frozen=True)
class QuestionSet:
    """Questions that are asked together, in their order. Its id is its file's name."""

    id: str
    path: Path
    title: str
    #: What it is for.
    purpose: str
    questions: tuple[Question, ...]

    @property
    def minutes(self) -> int:
        """The sum over its questions."""
        return sum(question.minutes for question in self.questions)

    @property
    def points(self) -> Fraction:
        """The sum over its questions."""
        return sum((question.points for question in self.questions), Fraction(0))


def read_set(path: Path, questions: Mapping[str, Question | None]) -> tuple[QuestionSet | None, list[Fault]]:
    """The set in a file, and the faults of the file. `questions` are the bank's by their ids, None for a faulty one."""
    faults: list[Fault] = []
    if not _SLUG.fullmatch(path.stem):
        faults.append(Fault(1, 1, f"the file name `{path.stem}` is not lowercase letters, digits and single hyphens"))
    elif path.stem in questions:
        faults.append(Fault(1, 1, f"there is a question `{path.stem}`; give the set another name"))
    try:
        document = yaml_nodes.read(path.read_bytes())
    except OSError as error:
        document = Fault(1, 1, f"cannot be read: {error.strerror}")
    if isinstance(document, Fault):
        return None, [*faults, document]
    faults += document.faults
    faults += (Fault(*document.place(place), told) for place, told in _misshapen(document.data))
    if faults:
        return None, faults
    faults += _wrong_names(document, questions)
    data = document.data
    found = [questions.get(name) for name in data["questions"]]
    chosen = tuple(question for question in found if question is not None)
    if len(chosen) < len(found):
        return None, faults
    read = QuestionSet(path.stem, path, data["title"].strip(), data["purpose"].strip(), chosen)
    for key, given, true in (
        ("minutes", Fraction(data["minutes"]), Fraction(read.minutes)),
        ("points", Fraction(data["points"]), read.points),
    ):
        if given != true:
            told = f"{key} {data[key]} is not what its questions have together; write {float(true):g}"
            faults.append(Fault(*document.place((key,)), told))
    return read, faults


def _misshapen(data: dict[str, Any]) -> Iterator[tuple[Location, str]]:
    for key in data:
        if key not in _KEYS:
            near = nearest(key, _KEYS) or f"; the keys here are {', '.join(_KEYS)}"
            yield (key,), f"unknown key `{shortened(key)}`{near}"
    for key, wanted in _KEYS.items():
        if key not in data:
            yield (), f"there is no `{key}`; add {wanted}"
        elif not _fits(key, data[key]):
            yield (key,), f"{key} is not as it should be; write {wanted}"


def _fits(key: str, value: Any) -> bool:
    match key:
        case "schema":
            return type(value) is int and value == 1
        case "questions":
            return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
        case "minutes" | "points":
            return isinstance(value, int | Decimal) and not isinstance(value, bool)
        case _:
            return isinstance(value, str) and bool(value.strip())


def _wrong_names(document: Document, questions: Mapping[str, Question | None]) -> Iterator[Fault]:
    names = document.data["questions"]
    for index, name in enumerate(names):
        place = document.place(("questions", index))
        if name not in questions:
            yield Fault(*place, f"no question `{shortened(name)}` in the bank{nearest(name, questions)}")
        elif name in names[:index]:
            yield Fault(*place, f"`{name}` is given twice; keep one")
