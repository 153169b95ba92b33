"""docs/questions.md: what the page says of a bank, and that it says so of this one."""

from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.bank.catalogue import Asked, questions_page, read_coverage
from proctorch.errors import BankError

ROOT = Path(__file__).parents[1]
TINY = Path(__file__).parent / "bank"


def test_the_page_of_a_bank() -> None:
    """The page has each question with its kill rate, the topics by difficulty, and what is asked for."""
    proof = "| double-it | 2 | 6 | 5 | 0 | 1 | 83.3% | `0123456789abcdef` |\n"
    page = questions_page(Bank.load(TINY), [Asked("twice", ("T1",)), Asked("thrice", ())], proof)
    assert (
        page.split("proof.md).\n\n")[1]
        == """\
| code | id | title | topic | difficulty | minutes | points | needs | kill rate |
|---|---|---|---|--:|--:|--:|---|--:|
| T1 | `double-it` | Double a tensor where it is | tiny | 1 | 3 | 3.5 | any device | 83.3% |

1 questions, 3 minutes.

## Topics and difficulties

| topic | 1 | 2 | 3 | 4 | 5 |
|---|---|---|---|---|---|
| tiny | T1 |  |  |  |  |

## What is asked for

| what | questions |
|---|---|
| twice | T1 |
| thrice | none yet |
"""
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "coverage:\n  - {asks: twice, questions: [T1, T2]}\n",
            ":2:35: no question has the code `T2`",
        ),
        ("coverage:\n  - {asks: twice}\n", ":2:5: an entry is `{asks: …, questions: […]}`"),
        ("covers: []\n", ":1:1: is one list: `coverage:`"),
        ("coverage: [\n", ":2:1: cannot be read"),
    ],
)
def test_a_faulty_coverage(tmp_path: Path, text: str, message: str) -> None:
    """A code that no question has, and what is no entry, are told with their place."""
    path = tmp_path / "coverage.yaml"
    path.write_text(text)
    with pytest.raises(BankError) as error:
        read_coverage(path, Bank.load(TINY))
    assert f"coverage.yaml{message}" in str(error.value)


def test_the_page_is_true() -> None:
    """docs/questions.md is what `proctorch list --write docs/questions.md` writes; every code in it is a question's."""
    bank = Bank.load()
    asked = read_coverage(ROOT / "docs" / "coverage.yaml", bank)
    proof = (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "questions.md").read_text(encoding="utf-8") == questions_page(bank, asked, proof)
