"""Sets of questions: what is read, what is told of a faulty one, and where a set stands for its questions."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.errors import BankError, UsageError

TINY = Path(__file__).parent / "bank"
GOOD = """\
schema: 1
title: Two of a kind
purpose: for the tests
questions:
  - double-it
  - double-at
minutes: 6
points: 7
"""


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny bank with a second question, a copy of the first, and a set of both."""
    root = Path(shutil.copytree(TINY, tmp_path / "bank"))
    for folder in ("questions/tiny", "graders/tiny", "solutions/tiny"):
        for path in (root / folder).glob("double-it*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, path.with_name(path.name.replace("it", "at")))
    second = root / "questions/tiny/double-at.yaml"
    second.write_text(second.read_text().replace("code: T1", "code: T2"))
    tests = root / "graders/tiny/double-at/test_double_it.py"
    tests.rename(tests.with_name("test_double_at.py"))
    (root / "questions/sets").mkdir()
    (root / "questions/sets/pair.yaml").write_text(GOOD)
    monkeypatch.chdir(root)
    return root


def test_a_set(bank: Path) -> None:
    """A set has its questions in its own order, and their minutes and points together."""
    [pair] = Bank.load(bank).sets
    assert (pair.id, pair.title, pair.purpose) == ("pair", "Two of a kind", "for the tests")
    assert [question.id for question in pair.questions] == ["double-it", "double-at"]
    assert (pair.minutes, pair.points) == (6, Fraction(7))


def test_a_set_stands_for_its_questions(bank: Path) -> None:
    """Where several ids may stand, a set's may; each question comes once, in the order of the names."""
    loaded = Bank.load(bank)
    assert [question.id for question in loaded.find_all(["T2", "pair"])] == ["double-at", "double-it"]
    with pytest.raises(UsageError, match="`pair` is a set; name one of its questions: double-it, double-at"):
        loaded.find("pair")
    with pytest.raises(UsageError, match=r"no question `pear` in the bank; did you mean `pair`\?"):
        loaded.find_all(["pear"])


def test_sets_are_no_topic_and_decide_no_grade(bank: Path) -> None:
    """The folder of sets has no questions in it, and the bank's digest does not depend on it."""
    loaded = Bank.load(bank)
    assert {question.topic for question in loaded.questions} == {"tiny"}
    shutil.rmtree(bank / "questions/sets")
    assert Bank.load(bank).digest == loaded.digest


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("minutes: 6", "minutes: 45", "7:1: minutes 45 is not what its questions have together; write 6"),
        ("points: 7", "points: 3.5", "8:1: points 3.5 is not what its questions have together; write 7"),
        ("- double-at", "- duoble-at", "6:5: no question `duoble-at` in the bank; did you mean `double-at`?"),
        ("- double-at", "- double-it", "6:5: `double-it` is given twice; keep one"),
        ("purpose: for the tests\n", "", "1:1: there is no `purpose`; add what the set is for"),
        ("purpose:", "purposes:", "3:1: unknown key `purposes`; did you mean `purpose`?"),
        ("minutes: 6", "minutes: six", "7:1: minutes is not as it should be; write the minutes of its questions"),
        ("schema: 1", "schema: 2", "1:1: schema is not as it should be; write the layout of the file, `schema: 1`"),
        ("title: Two", "title: [", "3:8: cannot be read: "),
    ],
)
def test_a_faulty_set(bank: Path, before: str, after: str, message: str) -> None:
    """A fault of a set is a fault of the bank, with its place."""
    (bank / "questions/sets/pair.yaml").write_text(GOOD.replace(before, after))
    with pytest.raises(BankError) as error:
        Bank.load(bank)
    assert f"questions/sets/pair.yaml:{message}" in str(error.value)


def test_a_set_that_is_called_like_a_question(bank: Path) -> None:
    """An id stands for one thing."""
    (bank / "questions/sets/pair.yaml").rename(bank / "questions/sets/double-at.yaml")
    (bank / "questions/sets/notes.txt").write_text("a note")
    with pytest.raises(BankError) as error:
        Bank.load(bank)
    assert str(error.value).splitlines() == [
        "questions/sets/double-at.yaml:1:1: there is a question `double-at`; give the set another name",
        "questions/sets/notes.txt:1:1: not a set; questions/sets/ holds <id>.yaml only, so move it away",
    ]


def test_a_faulty_question_is_told_once(bank: Path) -> None:
    """A set says nothing about a question that has faults of its own."""
    question = bank / "questions/tiny/double-at.yaml"
    question.write_text(question.read_text().replace("difficulty: 1", "difficulty: 9"))
    with pytest.raises(BankError) as error:
        Bank.load(bank)
    assert str(error.value) == "questions/tiny/double-at.yaml:5:1: difficulty 9 is not 1 to 5"


def test_the_shipped_sets() -> None:
    """The phone screen takes 45 minutes and the take-home 120."""
    assert {each.id: each.minutes for each in Bank.load(parse_graders=False).sets} == {
        "phone-screen": 45,
        "take-home": 120,
    }
