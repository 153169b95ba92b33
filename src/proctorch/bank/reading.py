"""One YAML file to a `Question`, or to every fault in it.

Three levels, each told in one go: syntax (the YAML parser's mark), shape (the validator's location, walked down the
YAML nodes to a line and a column), and the rules between the parts of one question. What needs more than the one file
is told in `bank.py`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import ValidationError

from proctorch.bank.question import (
    Card,
    Check,
    EntryPoint,
    FollowUp,
    Limits,
    Mistake,
    Need,
    Question,
    QuestionType,
    Rubric,
)
from proctorch.bank.rules import broken_rules
from proctorch.bank.schema import LAYOUT, SCHEMA, VALIDATOR
from proctorch.bank.shape import shape_faults
from proctorch.bank.text import Fault, parse_python, printable
from proctorch.bank.yaml_nodes import Document, Location, read
from proctorch.errors import BankError, Diagnostic
from proctorch.prose import unset

_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class QuestionFile(NamedTuple):
    """A question, and the file that it was read from: `document.place(…)` tells where a part of it is written."""

    question: Question
    document: Document


def read_question(path: Path, shown: str | None = None) -> QuestionFile:
    """The question at `…/questions/<topic>/<id>.yaml`.

    Raises BankError with every fault of the file; its diagnostics name the file as `shown`.
    """
    faults = list(_misnamed(path))
    document: Document | Fault
    try:
        document = read(path.read_bytes())
    except OSError as error:
        document = Fault(1, 1, f"cannot be read: {error.strerror}")
    if isinstance(document, Fault):
        faults.append(document)
    else:
        valid, more = _validated(document)
        faults += more
        if valid and not faults:
            return QuestionFile(_question(path, valid), document)
    raise BankError([Diagnostic(shown or str(path), line, column, printable(what)) for line, column, what in faults])


def _misnamed(path: Path) -> Iterator[Fault]:
    for what, name in (("file", path.stem), ("folder", path.parent.name)):
        if not _SLUG.fullmatch(name):
            yield Fault(
                1, 1, f"the {what} name `{name}` is not lowercase letters, digits and single hyphens; rename it"
            )


def _validated(document: Document) -> tuple[dict[str, Any] | None, list[Fault]]:
    faults = list(document.faults)
    data = document.data
    if type(number := data.get("schema")) is int and number != SCHEMA:
        # Another layout: what else seems wrong in it would be noise.
        message = f"schema {number} is not known; this Proctorch reads schema {SCHEMA}"
        return None, [*faults, Fault(*document.place(("schema",)), message)]
    valid = None
    try:
        valid = VALIDATOR.validate_python(data)
    except ValidationError as error:
        faults += shape_faults(document, error.errors(include_url=False), LAYOUT)
    told = {(fault.line, fault.column) for fault in faults}
    broken = ((document.place(location), message) for location, message in broken_rules(data))
    faults += (Fault(*place, message) for place, message in broken if place not in told)
    faults += (fault for key in ("starter", "self_check") for fault in _python_faults(document, key))
    faults += _markdown_faults(document)
    return valid, faults


def _python_faults(document: Document, key: str) -> Iterator[Fault]:
    source = document.data.get(key)
    fault = parse_python(source) if isinstance(source, str) else None
    if isinstance(fault, Fault):
        yield _inside(document, (key,), fault)


def _markdown_faults(document: Document) -> Iterator[Fault]:
    """What not every sheet shows of the texts that are Markdown."""
    for location, text in _texts(document.data, ()):
        for line, column, message in unset(text, blocks=location == ("prompt",)):
            yield _inside(document, location, Fault(line, column, f"has {message}"))


def _texts(data: object, location: Location) -> Iterator[tuple[Location, str]]:
    """The texts that a sheet reads as Markdown, with their locations."""
    match data:
        case dict() if not location:
            for key in ("title", "prompt", "checks", "card"):
                yield from _texts(data.get(key), (key,))
        case dict():
            plain = {"test", "needs", "device", "only", "low_precision", "caught_by"}
            for key, value in data.items():
                if key not in plain:
                    yield from _texts(value, (*location, key))
        case list():
            for index, value in enumerate(data):
                yield from _texts(value, (*location, index))
        case str():
            yield location, data
        case _:
            pass


def _inside(document: Document, location: Location, fault: Fault) -> Fault:
    """A fault of the text at `location`, at its own line of the file where the text is a literal block."""
    name = next(step for step in reversed(location) if isinstance(step, str))
    if place := document.block(location, fault.line, fault.column):
        return Fault(*place, f"{name} {fault.message}")
    where = f" (in its line {fault.line})" if (document.written(location) or "").count("\n") else ""
    return Fault(*document.place(location), f"{name} {fault.message}{where}")


def _question(path: Path, valid: dict[str, Any]) -> Question:
    card, rubric = valid["card"], valid["card"]["rubric"]
    return Question(
        id=path.stem,
        topic=path.parent.name,
        path=path,
        code=valid.get("code"),
        title=valid["title"],
        type=QuestionType(valid["type"]),
        difficulty=valid["difficulty"],
        minutes=valid["minutes"],
        tags=tuple(valid.get("tags", ())),
        device=Need(valid["device"]),
        prompt=valid["prompt"],
        starter=valid["starter"],
        self_check=valid.get("self_check", ""),
        entry=tuple(EntryPoint(name, tuple(parameters)) for name, parameters in valid["entry"].items()),
        limits=Limits(**valid.get("limits", {})),
        budget=valid.get("budget"),
        checks=tuple(
            Check(
                test=check["test"],
                title=check["title"],
                points=check["points"],
                hints=tuple(check.get("hint", ())),
                device=Need(check.get("device", valid["device"])),
                needs=check.get("needs"),
                only=tuple(check.get("only", ())),
                low_precision=check.get("low_precision", ""),
            )
            for check in valid["checks"]
        ),
        card=Card(
            question=card["question"],
            in_depth=tuple(card["in_depth"]),
            scenario=card["scenario"],
            mistakes=tuple(Mistake(**mistake) for mistake in card["mistakes"]),
            follow_ups=tuple(FollowUp(**follow_up) for follow_up in card["follow_ups"]),
            related=tuple(card.get("related", ())),
            rubric=Rubric(rubric["strong"], rubric["pass"], rubric["weak"], tuple(rubric.get("probes", ()))),
        ),
        sources=tuple(valid.get("sources", ())),
    )
