"""The Python in a Jupyter notebook: its code cells in order, without what only a notebook understands."""

import ast
import json
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

#: A cell with this tag is not handed in.
SKIP_TAG = "proctorch-skip"
#: Cell magics whose cell is Python, run once, and whose names stay: only the line itself is no Python.
_AROUND_PYTHON = frozenset({"capture", "prun", "time"})
_MAX_NOTES = 20
_SHOWN = 60

#: What can begin a statement in a notebook only: a magic, a shell command, help, or the output of one of them.
_MAGIC = re.compile(r"\s*(?:[%!?]|[^\W\d][\w., ]*=\s*[%!]|[\w.]+\?{1,2}\s*$)")
_OUTSIDE = re.compile(r"#|'''|\"\"\"|['\"]|[([{]|[)\]}]")
_INSIDE = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ("'", '"', "'''", '"""')}


class NoNotebook(Exception):
    """The file is not a notebook with Python in it. The text is one line for the candidate."""


@dataclass(frozen=True)
class Code:
    """The code of a notebook as one source."""

    #: UTF-8, with a comment `# cell 4` above each cell. What was skipped stands there as a comment.
    source: bytes
    #: For each cell that is in the source: the line before its first one, and the cell's number in the notebook, where
    #: cells of text count too.
    cells: tuple[tuple[int, int], ...]
    #: What was skipped, a line each.
    notes: tuple[str, ...]


def extract(content: bytes) -> Code:
    """The code of the notebook whose file has this content (nbformat 2 to 4). NoNotebook if there is none."""
    # A comment about the encoding is looked for in the first two lines: in none of the notebook's own, then.
    lines = ["# coding: utf-8; the code cells of a notebook, in order"]
    cells: list[tuple[int, int]] = []
    notes: list[str] = []
    for number, cell in enumerate(_cells(_parse(content)), start=1):
        if cell.get("cell_type") != "code":
            continue
        if _has_tag(cell):
            kept, said = None, f"skipped, as its tag `{SKIP_TAG}` asks"
        else:
            kept, skipped = _python(_text(cell, number))
            said = f"skipped, not Python (`{_short(skipped[0])}`)" if kept is None else ""
            notes += [f"cell {number}: `{_short(each)}` skipped" for each in skipped if kept is not None]
        if kept is None:
            notes.append(f"cell {number}: {said}")
        lines += ["", f"# cell {number}{': ' if said else ''}{said}"]
        cells.append((len(lines), number))
        lines += kept or []
    if not cells:
        raise NoNotebook("the notebook has no code cells")
    if len(notes) > _MAX_NOTES:
        notes[_MAX_NOTES:] = [f"{len(notes) - _MAX_NOTES:,} more lines of the notebook skipped"]
    # A lone half of a surrogate pair can stand in JSON, not in UTF-8: Python says so, in the cell's line.
    return Code("\n".join([*lines, ""]).encode("utf-8", "surrogatepass"), tuple(cells), tuple(notes))


def _parse(content: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(content)
    except json.JSONDecodeError as error:
        raise NoNotebook(f"it is no notebook: no JSON ({error.msg} at line {error.lineno})") from None
    except (ValueError, RecursionError) as error:  # ValueError: not UTF-8, or a number of thousands of digits
        raise NoNotebook(f"it is no notebook: no JSON ({type(error).__name__})") from None
    if not isinstance(notebook, dict) or type(notebook.get("nbformat")) is not int:
        raise NoNotebook("it is no notebook: its JSON has no nbformat")
    return notebook


def _cells(notebook: dict[str, Any]) -> Iterable[dict[str, Any]]:
    version = notebook["nbformat"]
    if not 2 <= version <= 4:
        raise NoNotebook(f"it is a notebook of nbformat {version}; save it as nbformat 4")
    metadata = _dict(notebook.get("metadata"))
    language = _dict(metadata.get("language_info")).get("name") or _dict(metadata.get("kernelspec")).get("language")
    if isinstance(language, str) and language.lower() not in {"python", "ipython"}:
        raise NoNotebook(f"the notebook's language is {_short(language)}, not Python")
    holders = [notebook] if version == 4 else notebook.get("worksheets")
    cells = [_dict(holder).get("cells") for holder in holders] if isinstance(holders, list) else [None]
    if not all(isinstance(each, list) for each in cells):
        raise NoNotebook("it is no notebook: it has no list of cells")
    return [_dict(cell) for each in cells for cell in each or ()]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _has_tag(cell: dict[str, Any]) -> bool:
    tags = _dict(cell.get("metadata")).get("tags")
    return isinstance(tags, list) and SKIP_TAG in tags


def _text(cell: dict[str, Any], number: int) -> str:
    """The cell's source, which is a text or a list of lines; called `input` before nbformat 4."""
    text = cell.get("source", cell.get("input", ""))
    if isinstance(text, list) and all(isinstance(each, str) for each in text):
        text = "".join(text)
    if not isinstance(text, str):
        raise NoNotebook(f"it is no notebook: cell {number} has no text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _python(text: str) -> tuple[list[str] | None, list[str]]:
    """The cell's lines, as many as there were, and those that are now comments. None and its magic if it is no Python.

    A line that begins with `%` can be Python too, within brackets or in a string: what parses is left as it is.
    """
    lines = text.removesuffix("\n").split("\n")
    if _parses(text):
        return lines, []
    kept: list[str] = []
    skipped: list[str] = []
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    depth, quote, goes_on, magic = 0, "", False, False
    for number, line in enumerate(lines):
        if number == first and line.startswith("%%"):
            if line[2:].partition(" ")[0].strip() not in _AROUND_PYTHON:
                return None, [line]
            magic = True
        elif magic and goes_on:  # the magic's own next line, after a backslash
            goes_on = line.endswith("\\")
            kept.append(f"# {line}")
            continue
        else:
            magic = not (depth or quote or goes_on) and bool(_MAGIC.match(line))
        if magic:
            goes_on = line.endswith("\\")
            skipped.append(line.strip())
            indent = line[: len(line) - len(line.lstrip())]
            kept.append(f"{indent}pass  # {line.strip()}" if indent else f"# {line}")
        else:
            depth, quote, goes_on = _after(line, depth, quote)
            kept.append(line)
    return kept, skipped


def _after(line: str, depth: int, quote: str) -> tuple[int, str, bool]:
    """How many brackets are open, and which string, after a line; and whether it goes on after a backslash."""
    at, comment = 0, False
    while hit := (_INSIDE[quote] if quote else _OUTSIDE).search(line, at):
        at = hit.end()
        if quote:
            quote = "" if hit[0] == quote else quote
        elif hit[0] == "#":
            comment = True
            break
        elif hit[0] in "([{":
            depth += 1
        elif hit[0] in ")]}":
            depth = max(0, depth - 1)
        else:
            quote = hit[0]
    goes_on = line.endswith("\\") and not comment
    return depth, "" if len(quote) == 1 and not goes_on else quote, goes_on


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
