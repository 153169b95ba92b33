"""A bank as a whole: its questions, and the faults between its files."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.errors import BankError, ExitCode, UsageError

HERE = Path(__file__).parent
TINY = HERE / "bank"
WHOLE = HERE / "bad_bank" / "whole"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the tiny bank, to be broken."""
    return Path(shutil.copytree(TINY, tmp_path / "bank"))


def told(path: Path, *, parse_graders: bool = True) -> list[str]:
    with pytest.raises(BankError) as raised:
        Bank.load(path, parse_graders=parse_graders)
    assert raised.value.exit_code is ExitCode.USAGE
    return str(raised.value).splitlines()


def test_a_bank_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bank has its questions, and paths that hold wherever the current folder is."""
    monkeypatch.chdir(HERE)
    bank = Bank.load("bank")
    assert bank.root == TINY
    assert [question.id for question in bank.questions] == ["double-it"]
    assert bank.questions[0].tests == TINY / "graders" / "tiny" / "double-it" / "test_double_it.py"


def test_the_default_bank_is_whole() -> None:
    """The bank that Proctorch ships has no fault, and its questions are in order."""
    questions = Bank.load().questions
    assert [(each.topic, each.id) for each in questions] == sorted((each.topic, each.id) for each in questions)


def test_every_fault_of_every_file_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The faults between files come in one go, in order, with paths as they are seen from the current folder."""
    monkeypatch.chdir(WHOLE)
    assert told(WHOLE) == (WHOLE.parent / "whole.txt").read_text(encoding="utf-8").splitlines()


def test_faults_inside_and_between_files_come_together(copy: Path) -> None:
    """A question that is wrong in itself does not hide what is wrong with its grader."""
    question = copy / "questions" / "tiny" / "double-it.yaml"
    question.write_text(
        question.read_text(encoding="utf-8").replace("difficulty: 1", "difficulty: 9"), encoding="utf-8"
    )
    (copy / "graders" / "tiny" / "double-it" / "scenarios.py").unlink()
    assert told(copy) == [
        f"{question}:1:1: the grader has no {copy}/graders/tiny/double-it/scenarios.py; write it",
        f"{question}:5:1: difficulty 9 is not 1 to 5",
    ]


def test_paths_outside_the_current_folder_are_shown_as_given(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bank that was named by `../bank` has its faults under `../bank`."""
    (copy / "questions" / "loose.yaml").touch()
    (copy.parent / "here").mkdir()
    monkeypatch.chdir(copy.parent / "here")
    assert told(Path("../bank")) == [
        "../bank/questions/loose.yaml:1:1: a question lies in questions/<topic>/<id>.yaml; move it there"
    ]


def test_graders_may_be_left_unread(copy: Path) -> None:
    """Without `parse_graders`, a grader that does not parse is no fault, and one that is missing still is."""
    grader = copy / "graders" / "tiny" / "double-it"
    (grader / "test_double_it.py").write_text("def (", encoding="utf-8")
    assert [each.id for each in Bank.load(copy, parse_graders=False).questions] == ["double-it"]
    (grader / "scenarios.py").unlink()
    assert told(copy, parse_graders=False) == [
        f"{copy}/questions/tiny/double-it.yaml:1:1: the grader has no {grader}/scenarios.py; write it"
    ]


@pytest.mark.parametrize("name", ["double-it", "T1", "t1", "tiny/double-it"])
def test_a_question_is_found(name: str) -> None:
    """A question is found by its id, by its code in any case, and by topic and id."""
    assert Bank.load(TINY).find(name).title == "Double a tensor where it is"


def test_an_unknown_question_has_a_suggestion() -> None:
    """A name that is nearly right is answered with the right one."""
    with pytest.raises(UsageError, match=r"^no question `duoble-it` in the bank; did you mean `double-it`\?$"):
        Bank.load(TINY).find("duoble-it")


def test_questions_are_selected() -> None:
    """A selection fits all that is asked; a topic or a tag that no question has is a usage error."""
    bank = Bank.load(TINY)
    assert bank.select() == bank.questions
    assert bank.select(topic="tiny", difficulty=1, tag="tensors") == bank.questions
    assert bank.select(difficulty=2) == ()
    with pytest.raises(UsageError, match=r"^no question has the topic `tinny`; did you mean `tiny`\?$"):
        bank.select(topic="tinny")
    with pytest.raises(UsageError, match=r"^no question has the tag `zebra`$"):
        bank.select(tag="zebra")


@pytest.mark.parametrize("folder", ["empty", "gone"])
def test_a_folder_that_is_no_bank_is_refused(tmp_path: Path, folder: str) -> None:
    """A folder without questions/ is a usage error that says what a bank is."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as raised:
        Bank.load(tmp_path / folder)
    assert str(raised.value) == (
        f"no questions/ folder in {tmp_path / folder}; a bank is a folder with questions/, graders/ and solutions/"
    )


def test_the_digest_is_of_what_decides_grades(copy: Path) -> None:
    """The digest is the same wherever the bank lies, ignores caches and sets, and changes with any graded file."""
    digest = Bank.load(TINY).digest
    (copy / "graders" / "tiny" / "double-it" / "__pycache__").mkdir()
    (copy / "graders" / "tiny" / "double-it" / "__pycache__" / "scenarios.cpython-311.pyc").touch()
    (copy / "questions" / "sets").mkdir()
    (copy / "questions" / "sets" / "first.yaml").write_text(
        "schema: 1\ntitle: First\npurpose: for the test\nquestions: [double-it]\nminutes: 3\npoints: 3.5\n"
    )
    (copy / "templates").mkdir()
    (copy / "templates" / "style.css").touch()
    assert Bank.load(copy).digest == digest
    with (copy / "graders" / "tiny" / "double-it" / "scenarios.py").open("a") as scenarios:
        scenarios.write("\n")
    assert Bank.load(copy).digest != digest
    assert len(digest) == 64


def test_loading_is_light() -> None:
    """A bank is loaded without torch and without pydantic's models, which cost most of a command's start."""
    code = (
        "import sys; from proctorch.bank.bank import Bank; assert 'yaml' not in sys.modules; "
        f"Bank.load({str(TINY)!r}); assert not {{'torch', 'pydantic', 'numpy'}} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
