"""The validator's errors in plain words: what is wrong with which part, where it is written, and what to write.

The validator blames a part by its location; the YAML nodes know the line and the column of that location.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from proctorch.bank.text import Fault, nearest, shortened
from proctorch.bank.yaml_nodes import Document, Location, Odd

#: Of each mapping in a question, its keys and what belongs there.
Layout = Mapping[tuple[str, ...], Mapping[str, str]]

# The patterns that a question's layout asks for, and how a message names them.
ONE_LINE = r"^[^\r\n]+$"
TEST = r"^test_[a-z0-9_]+$"
CODE = r"^[A-Z]+[0-9]+$"
_PATTERN_WORDS = {
    ONE_LINE: "is more than one line; write one",
    TEST: "is not a test's name; write `test_` and lowercase letters, digits or `_`",
    CODE: "is not a code; write capital letters and a number, such as MF1",
}
_RANGES = {"difficulty": "1 to 5", "minutes": "1 to 600"}
_TYPE_WORDS = {
    "int_type": ("a whole number", "write digits without quotes"),
    "list_type": ("a list", "write `[…]`, or a line with `- ` for each item"),
    "dict_type": ("a mapping", "write `key: value` lines"),
}


def shape_faults(document: Document, errors: Sequence[Mapping[str, Any]], layout: Layout) -> Iterator[Fault]:
    """The validator's errors in plain words, each at its line and column."""
    locations = [error["loc"] for error in errors]
    for error in errors:
        location = error["loc"]
        if location[-1] == "[key]":
            yield Fault(*document.place(location[:-1]), f"entry `{location[-2]}` is not a Python name")
        elif any(other[: len(location)] == location != other for other in locations if other[-1] != "[key]"):
            continue  # an echo: a container blamed for the items inside it
        elif error["type"] == "missing":
            yield Fault(*document.place(location[:-1]), f"{_missing(location)}; add {_described(location, layout)}")
        elif error["type"] == "extra_forbidden":
            known = layout[_names(location)[:-1]]
            near = nearest(str(location[-1]), known) or f"; the keys here are {', '.join(known)}"
            yield Fault(*document.place(location), f"unknown key `{shortened(str(location[-1]))}`{near}")
        else:
            yield Fault(*document.place(location), _wrong(error, document.written(location), layout))


def _wrong(error: Mapping[str, Any], written: str | None, layout: Layout) -> str:
    """What is wrong with a value: its name, what it is, and what to write."""
    location, value, context = error["loc"], error["input"], error.get("ctx", {})
    name = _name(location)
    shown = " ".join([name, *_quoted(value, written)])
    match error["type"]:
        case kind if value is None or kind in {"too_short", "string_too_short"}:
            wanted = (
                "write it or remove it" if isinstance(location[-1], int) else f"write {_described(location, layout)}"
            )
            return f"{name} is empty; {wanted}"
        case "refused":
            return f"{shown} {context['message']}"
        case "string_pattern_mismatch":
            return f"{shown} {_PATTERN_WORDS[context['pattern']]}"
        case "greater_than_equal" | "less_than_equal":
            return f"{shown} is not {_RANGES[name]}"
        case "literal_error":
            known = re.findall(r"'([a-z-]+)'", context["expected"])
            return f"{shown} is not one of {', '.join(known)}{nearest(str(value), known)}"
        case "string_type":
            return f"{name} is {_read_as(value, written)}, not text; " + (
                "write text" if written is None else "put it in quotes"
            )
        case kind:
            wanted, advice = _TYPE_WORDS[kind]
            return f"{name} is {_read_as(value, written)}, not {wanted}; {advice}"


def _quoted(value: object, written: str | None) -> Iterator[str]:
    """A scalar as it was written: numbers bare, the rest in backquotes."""
    if written is not None:
        short = shortened(written)
        yield short if type(value) in {int, Decimal} else f"`{short}`"


def _read_as(value: object, written: str | None) -> str:
    quoted = "".join(_quoted(value, written))
    match value:
        case bool():
            return f"{quoted}, which YAML reads as {str(value).lower()}"
        case int() | Decimal():
            return f"the number {quoted}"
        case str():
            return f"the text {quoted}"
        case Odd():
            return f"{quoted}, which YAML reads as {value.kind}"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _missing(location: Location) -> str:
    owner = [_name(location[:-1])] if len(location) > 1 else []
    return " ".join([*owner, "has no" if owner else "there is no", f"`{location[-1]}`"])


def _name(location: Location) -> str:
    """What a message calls the part at `location`, such as `title`, `check 2` or `item 3 of tags`."""
    match location:
        case ("checks", int(index)):
            return f"check {index + 1}"
        case ("entry", str(name)):
            return f"entry {name}"
        case ("entry", str(name), int(index)):
            return f"parameter {index + 1} of {name}"
        case (*_, str(name), int(index)):
            return f"item {index + 1} of {name}"
        case (*_, name):
            return str(name)
        case _:
            return "the question"


def _names(location: Location) -> tuple[str, ...]:
    """The keys on the way to `location`, without positions in lists, nor the names below `entry`."""
    if location[0] == "entry":
        return ("entry",)
    return tuple(step for step in location if isinstance(step, str))


def _described(location: Location, layout: Layout) -> str:
    """What belongs at `location`, or in the list that it is an item of."""
    names = _names(location)
    return layout[names[:-1]][names[-1]]
