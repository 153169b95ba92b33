"""Submissions: what a candidate hands in, and which question it answers."""

import re
import tokenize
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.errors import UsageError

_MAX_BYTES = 1 << 20
_NAMED = re.compile(r"^#\s*proctorch:\s*(\S+)\s*$", re.MULTILINE)
_HEAD = 4096


@dataclass(frozen=True)
class Submission:
    """A file of Python source, read when this is made; UsageError if it cannot be read or is no such file.

    `source` may be given instead, for a submission that is no file.
    """

    path: Path
    source: bytes = field(repr=False)

    def __init__(self, path: str | Path, source: bytes | None = None) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "source", _read(self.path) if source is None else source)

    @property
    def text(self) -> str:
        """The source for show: decoded as Python would, with what cannot be decoded replaced."""
        try:
            encoding, _ = tokenize.detect_encoding(BytesIO(self.source).readline)
            return self.source.decode(encoding, "replace")
        except (SyntaxError, LookupError, UnicodeError):  # no such encoding, or one that makes no text, as rot13
            return self.source.decode("utf-8", "replace")

    @property
    def module(self) -> str:
        """The name under which it is imported."""
        name = re.sub(r"\W", "_", self.path.stem)
        return name if name.isidentifier() else f"_{name}"


def find_question(bank: Bank, submission: Submission) -> Question:
    """The question that it answers: by a line `# proctorch: ID` near its top, its file's name or a folder's.

    UsageError if none of them names a question.
    """
    head = submission.source[:_HEAD].decode("utf-8", "replace")
    if named := _NAMED.search(head):
        return bank.find(named[1])
    by_name = {question.id: question for question in bank.questions}
    by_name |= {question.code.lower(): question for question in bank.questions if question.code}
    for name in (submission.path.stem, *(folder.name for folder in submission.path.absolute().parents)):
        if question := by_name.get(name.lower().replace("_", "-")):
            return question
    raise UsageError(
        f"{submission.path}: which question does it answer? Say it with --question ID, with a line `# proctorch: ID`"
        f" at its top, or in its name, such as {bank.questions[0].module}.py (`proctorch list` shows the IDs)"
    )


def _read(path: Path) -> bytes:
    if path.suffix == ".ipynb":
        raise UsageError(f"{path}: notebooks are not graded yet; save the code as a .py file")
    try:
        if not path.is_file():
            raise UsageError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; give a file of Python source")
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise UsageError(f"{path}: {size:,} bytes; a submission has at most {_MAX_BYTES:,}")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
