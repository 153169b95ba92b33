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

    The file is UTF-8, its first row names the columns, and commas, semicolons or tabs part them. UsageError says what is
    wrong with it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{path}:{line}:1: byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    first = text.partition("\n")[0]
    comma = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=comma, strict=True))
    except csv.Error as error:
        raise UsageError(f"{path}: is no CSV file: {error}") from None
    head = [each.strip().lower() for each in rows[0]] if rows else []
    if "name" not in head:
        raise UsageError(
            f"{path}:1:1: there is no column `name`{nearest('name', head)}; the first row names the columns"
        )
    people: list[Mapping[str, str]] = []
    for number, row in enumerate(rows[1:], 2):
        if not any(each.strip() for each in row):
            continue
        if len(row) != len(head):
            raise UsageError(f"{path}:{number}:1: the row has {len(row)} columns, and the first one has {len(head)}")
        person = {key: each.strip() for key, each in zip(head, row, strict=True) if key in FIELDS}
        if not person["name"]:
            raise UsageError(f"{path}:{number}:1: the row has no name")
        people.append(person)
    if not people:
        raise UsageError(f"{path}: there is no row below the first")
    if len(people) > MOST:
        raise UsageError(f"{path}: {len(people)} people; at most {MOST} are printed at once")
    return people
