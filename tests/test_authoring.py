"""The worked example of docs/authoring.md is true: its commands print what it shows, and it ends green."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from proctorch import cli

PAGE = Path(__file__).parents[1] / "docs" / "authoring.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str, str]]:
    """Of each block of the example: the text before it, its language, and what is in it."""
    example = PAGE.read_text(encoding="utf-8").split("## One question from empty to green")[1]
    found, end = [], 0
    for block in _BLOCK.finditer(example):
        found.append((example[end : block.start()], block[1], block[2]))
        end = block.end()
    return found


def commands(text: str) -> list[tuple[list[str], str]]:
    """The commands of a console block, each with what it prints."""
    return [
        (command.split(), said) for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    ]


def test_the_worked_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command prints what the page shows, where `…` stands for more, after the files are written as it shows."""
    monkeypatch.chdir(tmp_path)
    ends = []
    for before, language, text in steps():
        if language != "console":
            path = Path(re.findall(r"`(my-bank/\S+)`", before)[-1])
            assert path.is_file()
            path.write_text(text)
            continue
        for words, expected in commands(text):
            if words[0] == "mv":
                shutil.move(words[1], words[2])
                continue
            more = ["--processes", "1"] if words[1] == "verify" else []
            monkeypatch.setattr(sys, "argv", [*words, *more])
            with pytest.raises(SystemExit) as end:
                cli.main()
            ends.append(end.value.code)
            said = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
            parts = [re.escape(part) for part in expected.rstrip("\n").split("…")]
            assert re.fullmatch(".*".join(parts), said, re.DOTALL), said
    assert ends == [0, 1, 1, 0]
