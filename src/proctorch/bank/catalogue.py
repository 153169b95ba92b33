"""docs/questions.md: every question of a bank in one table, and what the bank covers.

Beside the page may lie `proof.md`, which has the kill rates, and `coverage.yaml`, which says what is asked for and by
which questions.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from proctorch.bank import yaml_nodes
from proctorch.bank.bank import Bank
from proctorch.bank.question import Need, Question
from proctorch.bank.text import Fault, nearest, printable, shortened
from proctorch.errors import BankError, Diagnostic
from proctorch.files import replace_file

#: A row of proof.md: the question's id and its kill rate.
_PROVEN = re.compile(r"^\| ([a-z0-9-]+) \|.*\| ([0-9.]+%) \| `[0-9a-f]+` \|$", re.MULTILINE)
#: What each is called on the page, the least first.
_NEEDS = {
    Need.ANY: "any device",
    Need.SECOND: "a second device",
    Need.TWO: "two accelerators",
    Need.BUDGET: "a memory budget",
}
_HEAD = """\
# The questions

This file is written by `proctorch list --write docs/questions.md`, and a test fails if it is not what that writes. The
kill rates are those of [proof.md](proof.md).

"""


@dataclass(frozen=True)
class Asked:
    """Something that is asked for, and the codes of the questions that ask it."""

    what: str
    codes: tuple[str, ...]


def read_coverage(path: Path, bank: Bank) -> tuple[Asked, ...]:
    """What `coverage.yaml` says, in its order; nothing where there is no such file.

    BankError with every fault of the file: what is no entry, and a code that no question of the bank has.
    """
    if not path.is_file():
        return ()
    document = yaml_nodes.read(path.read_bytes())
    if isinstance(document, Fault):
        raise BankError([Diagnostic(str(path), document.line, document.column, document.message)])
    faults = [*document.faults]
    codes = [question.code for question in bank.questions if question.code]
    found: list[Asked] = []
    entries = document.data.get("coverage")
    if [*document.data] != ["coverage"] or not isinstance(entries, list):
        faults.append(Fault(1, 1, "is one list: `coverage:`, then `- {asks: …, questions: […]}`"))
        entries = []
    for index, entry in enumerate(entries):
        match entry:
            case {"asks": str(what), "questions": list(named)} if len(entry) == 2 and what.strip():
                found.append(Asked(what.strip(), tuple(map(str, named))))
                for number, code in enumerate(found[-1].codes):
                    if code not in codes:
                        told = f"no question has the code `{shortened(code)}`{nearest(code, codes)}"
                        faults.append(Fault(*document.place(("coverage", index, "questions", number)), told))
            case _:
                faults.append(Fault(*document.place(("coverage", index)), "an entry is `{asks: …, questions: […]}`"))
    if faults:
        raise BankError([Diagnostic(str(path), line, column, printable(told)) for line, column, told in faults])
    return tuple(found)


def questions_page(bank: Bank, asked: Iterable[Asked], proof: str) -> str:
    """The page, in Markdown. `proof` is the text of proof.md."""
    rates = {match[1]: match[2] for match in _PROVEN.finditer(proof)}
    parts = [_HEAD, *_question_table(bank, rates), *_matrix(bank.questions)]
    if bank.sets:
        parts += ["\n## Sets\n\n", *_set_table(bank)]
    if asked := [*asked]:
        parts += ["\n## What is asked for\n\n", *_table(["what", "questions"], _coverage_rows(asked), "ll")]
    return "".join(parts)


def write_questions_page(path: Path, bank: Bank) -> None:
    """Writes the page, with what lies beside it. BankError for a faulty coverage.yaml."""
    proof = path.with_name("proof.md")
    asked = read_coverage(path.with_name("coverage.yaml"), bank)
    told = proof.read_text(encoding="utf-8") if proof.is_file() else ""
    replace_file(path, questions_page(bank, asked, told))


def _question_table(bank: Bank, rates: dict[str, str]) -> Iterator[str]:
    rows = (
        [
            each.code or "",
            f"`{each.id}`",
            each.title,
            each.topic,
            str(each.difficulty),
            str(each.minutes),
            _number(each.points),
            _needed(each),
            rates.get(each.id, "not measured"),
        ]
        for each in bank.questions
    )
    names = ["code", "id", "title", "topic", "difficulty", "minutes", "points", "needs", "kill rate"]
    yield from _table(names, rows, "llllrrrlr")
    minutes = sum(each.minutes for each in bank.questions)
    yield f"\n{len(bank.questions)} questions, {minutes} minutes.\n"


def _needed(question: Question) -> str:
    """The most that it needs, and whether some checks do with less."""
    needs = [question.device, *(check.device for check in question.checks)]
    most = max(needs, key=[*_NEEDS].index)
    return _NEEDS[most] + (", in part" if set(needs) != {most} else "")


def _matrix(questions: Iterable[Question]) -> Iterator[str]:
    cells: dict[str, dict[int, list[str]]] = {}
    for each in questions:
        cells.setdefault(each.topic, {}).setdefault(each.difficulty, []).append(each.code or each.id)
    yield "\n## Topics and difficulties\n\n"
    rows = (
        [topic, *(", ".join(by_level.get(level, [])) for level in range(1, 6))] for topic, by_level in cells.items()
    )
    yield from _table(["topic", "1", "2", "3", "4", "5"], rows, "llllll")


def _set_table(bank: Bank) -> Iterator[str]:
    rows = (
        [
            f"`{each.id}`",
            each.purpose,
            ", ".join(question.code or question.id for question in each.questions),
            str(each.minutes),
            _number(each.points),
        ]
        for each in bank.sets
    )
    yield from _table(["set", "for", "questions", "minutes", "points"], rows, "lllrr")


def _coverage_rows(asked: Iterable[Asked]) -> Iterator[list[str]]:
    yield from ([each.what, ", ".join(each.codes) or "none yet"] for each in asked)


def _table(names: list[str], rows: Iterable[list[str]], sides: str) -> Iterator[str]:
    yield f"| {' | '.join(names)} |\n"
    yield f"|{'|'.join({'l': '---', 'r': '--:'}[side] for side in sides)}|\n"
    for row in rows:
        yield f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in row)} |\n"


def _number(points: Fraction) -> str:
    return f"{float(points):g}"
