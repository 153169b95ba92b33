"""What can go wrong, and the exit code that says so.

    ProctorchError           ours or the machine's fault           exit 3
    ├── UsageError           the command was asked wrongly         exit 2
    └── BankError            the bank has faults; all are listed   exit 2

A candidate's fault is none of these: it is a verdict.
"""

import enum
from dataclasses import dataclass


class ExitCode(enum.IntEnum):
    """What the command's exit code means to a script."""

    #: Everything that was graded was accepted, or there was nothing to grade and nothing failed.
    OK = 0
    #: Something was graded and not accepted.
    NOT_ACCEPTED = 1
    #: The command line or the bank is at fault.
    USAGE = 2
    #: The judge, the machine or Proctorch itself is at fault; no candidate is.
    JUDGE_ERROR = 3
    #: Nothing was graded: every job was skipped. An empty run must not look green.
    NOTHING_GRADED = 5
    #: The user stopped the command.
    INTERRUPTED = 130


@dataclass(frozen=True, order=True)
class Diagnostic:
    """One fault in the bank. Lines and columns count from 1; `path` is as the user would type it."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class ProctorchError(Exception):
    """A fault that is told in one message, never as a traceback."""

    exit_code: ExitCode = ExitCode.JUDGE_ERROR


class UsageError(ProctorchError):
    """The command or the call was asked for something that cannot be: what, and what to do instead."""

    exit_code = ExitCode.USAGE


class BankError(ProctorchError):
    """The bank has faults: every one of them, sorted by place."""

    exit_code = ExitCode.USAGE

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = tuple(sorted(set(diagnostics)))
        super().__init__("\n".join(map(str, self.diagnostics)))
