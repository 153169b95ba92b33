"""One-change mutants: what is changed, what is left alone, and what is said of a grader that accepts one."""

import shutil
from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.devices import CPU
from proctorch.errors import BankError
from proctorch.verify.kills import Fate, Kills, Played, Total, kill
from proctorch.verify.mutants import Mutant, mutants
from proctorch.verify.page import measured, missing_rows, proof_page, stale_rows

ROOT = Path(__file__).parents[1]
TINY = Path(__file__).parent / "bank"
GRADER = "graders/tiny/double-it/test_double_it.py"
SOLUTIONS = "solutions/tiny/double-it"


def names(source: str) -> set[str]:
    """The mutants of the source."""
    return {each.name for each in mutants(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b < c", {"a = b < c → a = b <= c", "a = b < c → a = b >= c"}),
        ("a = b and c", {"a = b and c → a = b or c", "a = b and c → a = b", "a = b and c → a = c"}),
        ("a = not b", {"a = not b → a = b"}),
        ("a = b * c", {"a = b * c → a = b / c"}),
        ("a = b + 1", {"a = b + 1 → a = b - 1", "a = b + 1 → a = b + 2", "a = b + 1 → a = b + 0"}),
        ("a = a + b", {"a = a + b → a = a - b", "a = a + b → a += b"}),
        ("a = True", {"a = True → a = False"}),
        ("a = b[:c]", {"a = b[:c] → a = b[:c + 1]"}),
        ("a = f(b, c)", {"a = f(b, c) → a = f(c, b)"}),
        ("a = f(b, k=c)", {"a = f(b, k=c) → a = f(b)"}),
        ("a = range(n)", {"a = range(n) → a = range(n - 1)"}),
        ("def f(x):\n    return x", {"return x → pass"}),
        ("while f():\n    break", {"while f(): → while not f():", "break → continue", "break → pass"}),
        ("a = x.to(device)", {"a = x.to(device) → a = x", "a = x.to(device) → a = x.to('cpu')"}),
        ("a = x.detach().cpu()", {"a = x.detach().cpu() → a = x.cpu()", "a = x.detach().cpu() → a = x.detach()"}),
        (
            "a = f(device=x.device)",
            {"a = f(device=x.device) → a = f()", "a = f(device=x.device) → a = f(device='cpu')"},
        ),
        ("a = x.mean()", {"a = x.mean() → a = x.sum()"}),
        ("a = torch.float16", {"a = torch.float16 → a = torch.bfloat16", "a = torch.float16 → a = torch.float32"}),
        (
            "def f():\n    s.unscale_(o)\n    s.step(o)",
            {
                "s.unscale_(o) → (gone)",
                "s.step(o) → (gone)",
                "s.unscale_(o); s.step(o) → s.step(o); s.unscale_(o)",
            },
        ),
        (
            "def f(m):\n    with torch.no_grad():\n        m.eval()",
            {
                "with torch.no_grad():; m.eval() → pass",
                "with torch.no_grad(): → with torch.enable_grad():",
                "m.eval() → pass",
                "with torch.no_grad(): → (gone)",
            },
        ),
        (
            "try:\n    f()\nexcept RuntimeError:\n    g()\n    h()",
            {
                "except RuntimeError: → except Exception:",
                "except RuntimeError: → except torch.OutOfMemoryError:",
                "f() → pass",
                "g() → (gone)",
                "h() → (gone)",
                "g(); h() → h(); g()",
                "h() → the same, in another block",
            },
        ),
        (
            "try:\n    f()\nfinally:\n    g()",
            {"f() → pass", "g() → pass", "try: → (gone) | finally: → (gone)"},
        ),
        (
            "self.register_buffer('a', b)",
            {
                "self.register_buffer('a', b) → pass",
                "self.register_buffer('a', b) → self.register_buffer('', b)",
                "self.register_buffer('a', b) → self.register_buffer(b, 'a')",
                "self.register_buffer('a', b) → self.a = b",
            },
        ),
        (
            "total += loss",
            {"total += loss → total -= loss", "total += loss → total += loss.item()", "total += loss → pass"},
        ),
    ],
)
def test_operators(source: str, expected: set[str]) -> None:
    """Each kind of source has exactly these mutants."""
    assert names(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""\n',
        "# a comment\nimport torch\nfrom torch import nn\n",
        "def f(x: Literal['cpu', 3]) -> None:\n    '''Says 1.'''\n",
        "def f():\n    return None\n",
    ],
)
def test_what_is_no_code_is_left_alone(source: str) -> None:
    """Docstrings, comments, imports and annotations have no mutants."""
    assert mutants(source) == []


def test_messages_are_left_alone() -> None:
    """The text of an exception is not changed; its type is."""
    assert names("def f():\n    raise ValueError(f'no {1 + 1}', 'cpu')\n") == {
        "raise ValueError(f'no {1 + 1}', 'cpu') → raise Exception(f'no {1 + 1}', 'cpu')",
        "raise ValueError(f'no {1 + 1}', 'cpu') → raise ValueError('cpu', f'no {1 + 1}')",
        "raise ValueError(f'no {1 + 1}', 'cpu') → pass",
    }


def test_a_name_outlives_a_change_elsewhere() -> None:
    """A mutant is called the same when lines are added above it and comments beside it; its line is where it is."""
    [first, *_] = mutants("a = not b")
    [second, *_] = mutants("import torch\n\n\na = not b  # why\n")
    assert (first.name, first.line, second.name, second.line) == ("a = not b → a = b", 1, "a = not b → a = b", 4)


def test_equal_changes_are_told_apart() -> None:
    """Of two equal lines, the changes have names of their own."""
    assert {"a = not b → a = b", "a = not b → a = b (2)"} <= names("def f():\n    a = not b\n    g()\n    a = not b\n")


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A copy of the tiny bank, to be spoilt."""
    return Path(shutil.copytree(TINY, tmp_path / "bank"))


def killed(root: Path) -> Kills:
    """What became of the tiny bank's mutants."""
    loaded = Bank.load(root)
    [kills] = kill(loaded, loaded.questions, [CPU], processes=2)
    return kills


def test_a_strict_grader_kills_them_all(bank: Path) -> None:
    """The tiny bank's grader rejects every mutant, one after the other, in several processes."""
    kills = killed(bank)
    assert {(each.place, each.mutant.name, each.fate) for each in kills.played} == {
        ("accepted/add.py:6", "return torch.add(x, x) → return torch.add_(x, x)", Fate.KILLED),
        ("accepted/add.py:6", "return torch.add(x, x) → pass", Fate.KILLED),
        ("accepted/multiply.py:5", "return x * 2 → return x / 2", Fate.KILLED),
        ("accepted/multiply.py:5", "return x * 2 → return x * 3", Fate.KILLED),
        ("accepted/multiply.py:5", "return x * 2 → return x * 1", Fate.KILLED),
        ("accepted/multiply.py:5", "return x * 2 → pass", Fate.KILLED),
    }
    assert kills.problems == ()


def test_a_lax_grader_is_found(bank: Path) -> None:
    """A grader that looks at the shape alone accepts wrong numbers: they are named, and the question is not proven.

    One of them declared equivalent is no survivor, but too many; an entry for a mutant that is not there, or that is
    killed, is told with its line.
    """
    path = bank / GRADER
    lax = 'close(seen.tensor("result", what="the result", shape=(2, 3)), x.double() * 2, "the result")'
    path.write_text(path.read_text().replace(lax, 'seen.tensor("result", what="the result", shape=(2, 3))'))
    (bank / SOLUTIONS / "equivalent.yaml").write_text(
        "equivalent:\n"
        "  - {solution: multiply.py, mutant: return x * 2 → return x * 1, reason: said for the test}\n"
        "  - {solution: multiply.py, mutant: return x * 2 → pass, reason: said for the test}\n"
        "  - {solution: add.py, mutant: return x → return y, reason: said for the test}\n"
    )
    kills = killed(bank)
    assert [(each.place, each.mutant.name) for each in kills.of(Fate.SURVIVED)] == [
        ("accepted/multiply.py:5", "return x * 2 → return x / 2"),
        ("accepted/multiply.py:5", "return x * 2 → return x * 3"),
    ]
    assert [each.mutant.name for each in kills.of(Fate.EQUIVALENT)] == ["return x * 2 → return x * 1"]
    stale, unneeded, few, many = sorted(kills.problems, key=lambda line: ("matches" not in line, "entry" not in line))
    assert stale.startswith("equivalent.yaml:4: add.py: return x → return y: matches no mutant any more")
    assert unneeded.startswith("equivalent.yaml:3: multiply.py: return x * 2 → pass: is killed (cpu: ")
    assert few == "kills 60.0% of its mutants; at least 97% are wanted"
    assert many == "1 of 6 mutants are declared equivalent; at most 15% may be"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n", ":1:1: "),
        ("others: []\n", ":1:1: is one list: `equivalent:`"),
        ("equivalent:\n  - {solution: add.py}\n", ":2:5: an entry has three texts: solution, mutant, reason"),
        (
            "equivalent:\n" + "  - {solution: add.py, mutant: a → b, reason: why}\n" * 2,
            ":3:5: `a → b` is declared twice, first on line 2; keep one",
        ),
    ],
)
def test_a_faulty_list_of_equivalents(bank: Path, text: str, message: str) -> None:
    """Its faults are faults of the bank, with their place."""
    (bank / SOLUTIONS / "equivalent.yaml").write_text(text)
    with pytest.raises(BankError) as error:
        Bank.load(bank)
    assert f"{SOLUTIONS}/equivalent.yaml{message}" in str(error.value)


def test_the_page_knows_what_has_changed(bank: Path) -> None:
    """A row says so when what decides is another; other words of the question leave it. Rows not made anew stay."""
    loaded = Bank.load(bank)
    kills = Kills(loaded.questions[0], (Played("add.py", Mutant(1, "a → b", "b"), Fate.KILLED),))
    page = proof_page(loaded, [kills])
    assert "| double-it | 1 | 1 | 1 | 0 | 0 | 100.0% |" in page
    assert stale_rows(loaded, page) == []
    assert proof_page(loaded, [], page) == page
    question = loaded.questions[0].path
    written = question.read_text()
    question.write_text(written.replace("Leave `x` as it was.", "`x` stays as it was."))
    assert stale_rows(Bank.load(bank), page) == []
    question.write_text(written.replace("seconds: 5", "seconds: 6"))
    assert len(stale_rows(Bank.load(bank), page)) == 1
    question.write_text(written)
    path = bank / SOLUTIONS / "accepted" / "add.py"
    path.write_text(path.read_text() + "\n")
    [said] = stale_rows(Bank.load(bank), page)
    assert said == "double-it: changed since; run `proctorch verify --mutants double-it --write docs/proof.md`"
    assert stale_rows(loaded, page.replace("| double-it |", "| gone |")) == [
        "gone: there is no such question; remove its row"
    ]


def test_the_bank_together() -> None:
    """Of all mutants 99 % must be killed, the equivalent ones left out; the page says how many are."""
    [question] = Bank.load(TINY).questions

    def kills(killed: int, equivalent: int, survived: int) -> Kills:
        fates = [Fate.KILLED] * killed + [Fate.EQUIVALENT] * equivalent + [Fate.SURVIVED] * survived
        return Kills(question, tuple(Played("add.py", Mutant(1, "a → b", "b"), fate) for fate in fates))

    good = Total.of([kills(97, 10, 3), kills(200, 0, 0)])
    assert (good, good.rate, good.problem) == (Total(310, 297, 10), 0.99, "")
    bad = Total.of([kills(97, 10, 3), kills(199, 0, 0)])
    assert bad.problem == "all questions together kill 99.0% of their mutants; at least 99% are wanted"
    page = proof_page(Bank.load(TINY), [kills(97, 10, 3)])
    assert "\nAll together: 97 of 100, 97.0%.\n" in page
    assert measured(page) == Total(110, 97, 10)
    assert missing_rows(Bank.load(TINY), page) == []
    assert missing_rows(Bank.load(TINY), "") == [
        "double-it: not measured; run `proctorch verify --mutants double-it --write docs/proof.md`"
    ]


def test_the_proof_still_holds() -> None:
    """docs/proof.md was made with every measured question as it is now."""
    assert stale_rows(Bank.load(), (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")) == []


def test_every_question_is_measured() -> None:
    """docs/proof.md has a row for each question of the bank, and together the graders kill enough."""
    page = (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")
    assert missing_rows(Bank.load(), page) == []
    assert measured(page).problem == ""
