"""A new question is whole and proven from the start; its marks say what its author has to do."""

from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.bank.skeleton import MARK, unfinished, write_skeleton
from proctorch.devices import CPU
from proctorch.errors import UsageError
from proctorch.verify import verify as proof


def test_a_new_question_is_proven(tmp_path: Path) -> None:
    """What is written is a bank without faults, and its grader is proven; only its marks are left."""
    files = write_skeleton(tmp_path, "placement/born-there")
    loaded = Bank.load(tmp_path)
    findings = proof.verify(loaded, proof.plan_trials(loaded.questions, [CPU]), processes=1)
    assert [f"{each.trial.name} {each.problem}" for each in findings if each.problem] == []
    assert proof.unproven(findings) == []
    assert {Path(each.path) for each in unfinished(loaded.questions[0])} == set(files)


def test_a_mark_is_told_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left to do is one line for each mark, where it is; without marks, nothing is."""
    monkeypatch.chdir(tmp_path)
    files = write_skeleton(tmp_path, "placement/born-there")
    [question] = Bank.load(tmp_path).questions
    assert str(unfinished(question)[0]) == (
        "questions/placement/born-there.yaml:2:9: to do: name the exercise, in a few words"
    )
    for path in files:
        path.write_text(path.read_text().replace(MARK, ""))
    assert unfinished(question) == []


@pytest.mark.parametrize(
    "name", ["born-there", "placement/", "/born-there", "Placement/born", "a/b/c", "../x/y", "a/b_c"]
)
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    """A name that could not be a topic and an id is refused, and nothing is written."""
    with pytest.raises(UsageError, match="is no `topic/id`; write both in lowercase letters"):
        write_skeleton(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there stays as it was, and then nothing is written beside it; an id is used once in a bank."""
    mine = tmp_path / "solutions/placement/born-there/accepted/adds.py"
    mine.parent.mkdir(parents=True)
    mine.write_text("my work")
    with pytest.raises(UsageError, match=r"adds\.py: is there already; nothing was written"):
        write_skeleton(tmp_path, "placement/born-there")
    assert mine.read_text() == "my work"
    assert not (tmp_path / "questions").exists()
    write_skeleton(tmp_path, "placement/born-here")
    with pytest.raises(UsageError, match=r"placement/born-here\.yaml: is there already"):
        write_skeleton(tmp_path, "other/born-here")
