"""A sheet as Markdown, for a repository or a wiki."""

import re
from collections.abc import Mapping
from pathlib import Path

from proctorch import templating
from proctorch.prose import lowered, plain
from proctorch.sheet.sheet import Sheet
from proctorch.sheet.values import values

_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def render(
    sheet: Sheet,
    filled: Mapping[str, str] | None = None,
    *,
    template: str = "sheet.md.j2",
    templates: Path | None = None,
) -> str:
    """The text. `filled` is what stands in the candidate's fields already, by their names."""
    own = {
        "filled": filled or {},
        "lowered": lowered,
        "plain": plain,
        "fenced": _fenced,
        "cell": _cell,
        "quoted": _quoted,
        "indented": _indented,
    }
    return templating.render(template, values(sheet) | own, folder=templates)


def _fenced(source: str) -> str:
    """Code between fences that are longer than any in it."""
    fence = "`" * max([3, *(len(each) + 1 for each in _FENCE.findall(source))])
    return f"{fence}python\n{source.rstrip()}\n{fence}"


def _cell(text: str) -> str:
    """One cell of a table."""
    return _BAR.sub(r"\\|", " ".join(text.split()))


def _quoted(text: str) -> str:
    """What follows `> ` on the first line of a block quote."""
    return "\n> ".join(text.strip().splitlines())


def _indented(text: str) -> str:
    """What follows `- ` on the first line of a list's item."""
    return "\n  ".join(text.strip().splitlines())
