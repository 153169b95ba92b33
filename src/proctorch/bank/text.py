"""What is told about written text: a fault and its place, the nearest known word, Python that does not parse."""

import ast
import difflib
import warnings
from collections.abc import Iterable
from typing import NamedTuple


class Fault(NamedTuple):
    """One fault inside one text. Lines and columns count from 1."""

    line: int
    column: int
    message: str


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with the known word that looks most like `word`, or nothing where none does."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def shortened(text: str, most: int = 40) -> str:
    """`text` in one line of at most `most` characters, fit to be quoted in a message."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def printable(message: str) -> str:
    """`message` in one line that a terminal shows as it is: a bank may be anyone's, and messages quote it."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in message)


def parse_python(source: str | bytes) -> ast.Module | Fault:
    """The syntax tree of Python source, or why and where it does not parse. Nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a doubtful escape sequence is no fault of the bank
            return ast.parse(source)
    except SyntaxError as error:
        return Fault(max(error.lineno or 1, 1), max(error.offset or 1, 1), f"does not parse: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        # A NUL character, or brackets nested deeper than the parser's stack: neither comes with a place.
        return Fault(1, 1, f"does not parse: {str(error) or 'nested too deep'}")
