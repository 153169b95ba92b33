"""The command, run in the tests' own process."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from proctorch import cli


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class Run:
    """The command, in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str | Path) -> Done:
        self._monkeypatch.setattr(sys, "argv", ["proctorch", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = self._capsys.readouterr()
        return Done(int(end.value.code or 0), out, err)
