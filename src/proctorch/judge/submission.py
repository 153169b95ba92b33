"""Submissions: what a candidate hands in, and which question it answers."""

import codecs
import os
import re
import tokenize
import unicodedata
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.errors import UsageError
from proctorch.judge import files
from proctorch.judge.helpers import Helpers, Refused, find_helpers, is_taken
from proctorch.judge.notebook import NoNotebook, extract

_NAMED = re.compile(r"^#\s*proctorch:\s*(\S+)\s*$", re.MULTILINE)
_HEAD = 4096
#: What a browser or a file manager adds to the name of a second copy: `pick_device (1).py`.
_COPY = re.compile(r"\s*\(\d+\)$")
_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Encodings of names, not of texts; to decode much of them takes minutes.
_NO_TEXT = frozenset({"idna", "punycode"})


@dataclass(frozen=True)
class Submission:
    """A file of Python source or a notebook, read when this is made, with the files beside it that it imports.

    UsageError if it cannot be read or is no such file. `source` may be given instead, for a submission that is no file.
    """

    path: Path
    #: Of a notebook: its code cells, see `notebook.extract`.
    source: bytes = field(repr=False)
    #: Relative names and contents of the files that it imports, directly or not.
    helpers: Helpers = field(repr=False)
    #: What the reader of its grade should know about how it was read, a line each.
    notes: tuple[str, ...]
    #: Of a notebook: for each cell, the line of `source` before its first one, and its number.
    cells: tuple[tuple[int, int], ...] = field(repr=False)
    #: Why it is no Python, if that is known already: one line for the candidate.
    fault: str

    def __init__(
        self,
        path: str | Path,
        source: bytes | None = None,
        helpers: Helpers = (),
        notes: tuple[str, ...] = (),
        cells: tuple[tuple[int, int], ...] = (),
        fault: str = "",
    ) -> None:
        path = Path(path)
        if source is None:
            read = Submission.read(path, _content(path), files.beside(path))
            source, helpers, notes, cells, fault = read.source, read.helpers, read.notes, read.cells, read.fault
        for name, value in (
            *(("path", path), ("source", source), ("helpers", helpers), ("notes", notes)),
            *(("cells", cells), ("fault", fault)),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, path: Path, content: bytes, beside: Callable[[str], bytes | None]) -> "Submission":
        """The submission that a file's content is. `beside` reads the files beside it, as `find_helpers` asks for."""
        notes: tuple[str, ...] = ()
        cells: tuple[tuple[int, int], ...] = ()
        if path.suffix.lower() == ".ipynb":
            try:
                code = extract(content)
            except NoNotebook as reason:
                return cls(path, b"", fault=str(reason))
            content, notes, cells = code.source, code.notes, code.cells
        if len(content) > files.MAX_SOURCE:
            return cls(path, b"", fault=f"it has {len(content):,} bytes of code; at most {files.MAX_SOURCE:,} are read")
        if wide := _wide_encoding(content):
            return cls(path, content, fault=f"it is {wide} text, which Python does not read; save it as UTF-8")
        helpers, said = find_helpers(content, path.name, beside)
        return cls(path, content, helpers, (*notes, *said), cells)

    @property
    def text(self) -> str:
        """The source for show: decoded as Python would, with what cannot be decoded replaced."""
        if wide := _wide_encoding(self.source):
            return self.source.decode(wide, "replace")
        try:
            encoding, _ = tokenize.detect_encoding(BytesIO(_one_line_end(self.source[:_HEAD])).readline)
            if encoding in _NO_TEXT:
                encoding = "utf-8"
            return self.source.decode(encoding, "replace")
        except (SyntaxError, ValueError, LookupError):  # unknown, or a codec that is none for text
            return self.source.decode("utf-8", "replace")

    @property
    def module(self) -> str:
        """The name under which it is imported: its file's, as far as that can be a name and no other module has it."""
        name = re.sub(r"\W", "_", unicodedata.normalize("NFKC", self.path.stem))
        name = name if name.isidentifier() else f"_{name}"
        return f"{name}_" if is_taken(name) else name

    def where(self, line: int) -> str:
        """A line of the source in words: `line 7`, of a notebook `cell 4, line 2`."""
        return self.cell(line) or f"line {line}"

    def cell(self, line: int) -> str:
        """A line of the source as a place in the notebook: `cell 4, line 2`. Empty if it is none, or in no cell."""
        before = bisect_left(self.cells, (line, 0)) - 1
        if before < 0:
            return ""
        start, number = self.cells[before]
        return f"cell {number}, line {line - start}"


def find_question(bank: Bank, submission: Submission) -> Question:
    """The question that it answers: by a line `# proctorch: ID` near its top, its file's name or a folder's.

    UsageError if none of them names a question.
    """
    if named := name_question(bank, submission):
        return named[0]
    raise UsageError(
        f"{submission.path}: which question does it answer? Say it with --question ID, with a line `# proctorch: ID`"
        f" at its top, or in its name, such as {bank.questions[0].module}.py (`proctorch list` shows the IDs)"
    )


def name_question(bank: Bank, submission: Submission) -> tuple[Question, bool] | None:
    """The question that it answers, and whether it says so itself, rather than a folder that it is in. None: no word.

    UsageError if it names a question that is not in the bank.
    """
    head = "\n".join(submission.text[:_HEAD].splitlines())
    if named := _NAMED.search(head):
        try:
            return bank.find(named[1]), True
        except UsageError as error:
            raise UsageError(f"{submission.path}: {error}") from None
    by_name = {question.id: question for question in bank.questions}
    by_name |= {question.code.lower(): question for question in bank.questions if question.code}
    for name in (submission.path.stem, *(folder.name for folder in submission.path.absolute().parents)):
        plain = re.sub(r"[\s_]+", "-", _COPY.sub("", name).lower())
        if question := by_name.get(plain):
            return question, name == submission.path.stem
    return None


def _content(path: Path) -> bytes:
    if not os.path.isdir(path) and files.is_archive(path.name):  # noqa: PTH112 - it never raises
        raise UsageError(f"{path}: an archive; `proctorch grade` reads the files in it")
    try:
        return files.read_plain(path, files.most(path.name))
    except Refused as reason:
        raise UsageError(f"{path}: {reason}; give a file of Python source or a notebook") from None


def _one_line_end(source: bytes) -> bytes:
    """A line may end in a carriage return alone, for Python too."""
    return source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _wide_encoding(source: bytes) -> str:
    """Its encoding if that has two or four bytes for each ASCII letter, as Windows calls `Unicode`; else empty."""
    for mark in _WIDE_MARKS:
        if source.startswith(mark):
            return "UTF-32" if len(mark) == 4 else "UTF-16"
    head = source[:_HEAD]
    if len(head) >= 4 and len(head) % 2 == 0 and head.count(0) * 3 > len(head):  # of half the bytes, without a mark
        return "UTF-16-LE" if head[1] == 0 else "UTF-16-BE"
    return ""
