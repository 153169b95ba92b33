"""The people whom copies of a sheet are printed for."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from proctorch.bank.text import nearest
from proctorch.errors import UsageError
from proctorch.sheet.settings import FIELDS

#: More than any round of interviews, and as many as fit into memory at once.
MOST = 10_000


def read_names(path: Path) -> list[Mapping[str, str]]:
    """One mapping for each row of a CSV file: `name`, and those of its other columns that are fields of a sheet.

    The file is UTF-8, its first row names the columns, and commas, semicolons or tabs part them. UsageError says what
    is wrong with it.
    """
    head, *rows = _rows(path)
    columns = [each.strip().lower() for each in head]
    if "name" not in columns:
        near = nearest("name", columns)
        raise UsageError(f"{path}:1:1: there is no column `name`{near}; the first row names the columns")
    people = [_person(f"{path}:{line}:1", columns, row) for line, row in enumerate(rows, 2) if any(map(str.strip, row))]
    if not people:
        raise UsageError(f"{path}: there is no row below the first")
    if len(people) > MOST:
        raise UsageError(f"{path}: {len(people)} people; at most {MOST} are printed at once")
    return people


def _rows(path: Path) -> list[list[str]]:
    """All rows, at least one."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
        first = text.partition("\n")[0]
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        told = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise UsageError(f"{path}:{line}:1: {told}") from None
    except csv.Error as error:
        raise UsageError(f"{path}: is no CSV file: {error}") from None
    return rows or [[]]


def _person(place: str, columns: list[str], row: list[str]) -> Mapping[str, str]:
    if len(row) != len(columns):
        raise UsageError(f"{place}: the row has {len(row)} columns, and the first one has {len(columns)}")
    person = {key: each.strip() for key, each in zip(columns, row, strict=True) if key in FIELDS}
    if not person["name"]:
        raise UsageError(f"{place}: the row has no name")
    return person
