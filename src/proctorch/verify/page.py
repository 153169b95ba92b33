"""docs/proof.md: how many mutants each grader kills, with a digest that tells whether that is still so."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from proctorch.bank.bank import Bank
from proctorch.files import replace_file
from proctorch.verify.kills import LEAST_KILLED, LEAST_KILLED_OF_ALL, MOST_EQUIVALENT, Fate, Kills, Total

_DIGITS = 16
_ROW = re.compile(r"^\| ([a-z0-9-]+) \|.*\| `([0-9a-f]+)` \|$", re.MULTILINE)
_OF_EACH, _OF_ALL, _EQUIVALENT = (f"{each:.0%}" for each in (LEAST_KILLED, LEAST_KILLED_OF_ALL, MOST_EQUIVALENT))
_HEAD = f"""\
# Proof of the graders

A mutant is an accepted solution with one small thing done wrong: a `.to` dropped, two neighbouring statements
exchanged, a `<` for a `<=`. A grader that accepts one is too lax, unless the mutant is as right as its original. Of
each question's mutants at least {_OF_EACH} must be killed, and of all together {_OF_ALL}: rejected on the CPU or on the
virtual accelerator.
Those that are declared equivalent are left out, and at most {_EQUIVALENT} may be. They are listed with their
reasons in `equivalent.yaml`, beside the solutions.

This file is written by `proctorch verify --mutants --write docs/proof.md`; with the id of a question, its row alone is
made anew. The digest is of what decided when the row was measured: the grader, the solutions, and of the YAML the entry
points, limits, devices and checks, not the words. A test fails if it is no longer that of the question, so a row holds
for the question as it is now, or the tests say that it does not. No mutant is played by that test.

| question | solutions | mutants | killed | equivalent | survived | kill rate | digest |
|---|--:|--:|--:|--:|--:|--:|---|
"""


def proof_page(bank: Bank, kills: Iterable[Kills], before: str = "") -> str:
    """The page for these kills; of other questions of the bank, the rows of the page as it was `before` stay."""
    rows = {match[1]: match[0] for match in _ROW.finditer(before)}
    rows |= {each.question.id: _row(bank, each) for each in kills}
    known = [question.id for question in bank.questions]
    missing = [name for name in known if name not in rows]
    told = f"\nNot measured yet: {', '.join(missing)}.\n" if missing else ""
    kept = [rows[name] for name in known if name in rows]
    total = _total(kept)
    together = f"\nAll together: {total.killed} of {total.mutants - total.equivalent}, {total.rate:.1%}.\n"
    return _HEAD + "".join(f"{row}\n" for row in kept) + together + told


def missing_rows(bank: Bank, page: str) -> list[str]:
    """The questions that a page has no row of, a line each."""
    rows = {match[1] for match in _ROW.finditer(page)}
    return [
        f"{each.id}: not measured; run `proctorch verify --mutants {each.id} --write docs/proof.md`"
        for each in bank.questions
        if each.id not in rows
    ]


def measured(page: str) -> Total:
    """What the rows of a page say together."""
    return _total(match[0] for match in _ROW.finditer(page))


def stale_rows(bank: Bank, page: str) -> list[str]:
    """What no longer holds of a page: rows of questions that were changed since, or are gone, a line each."""
    digests = {question.id: _digest(bank, question.id) for question in bank.questions}
    found = []
    for match in _ROW.finditer(page):
        name, digest = match[1], match[2]
        if name not in digests:
            found.append(f"{name}: there is no such question; remove its row")
        elif digests[name] != digest:
            found.append(f"{name}: changed since; run `proctorch verify --mutants {name} --write docs/proof.md`")
    return found


def write_page(path: Path, bank: Bank, kills: Iterable[Kills]) -> None:
    """Writes the page, or makes some of its rows anew."""
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    replace_file(path, proof_page(bank, kills, before))


def _row(bank: Bank, kills: Kills) -> str:
    solutions = len({each.solution for each in kills.played})
    fates = [kills.count(fate) for fate in (Fate.KILLED, Fate.EQUIVALENT, Fate.SURVIVED)]
    numbers = [str(each) for each in (solutions, len(kills.played), *fates)]
    cells = [kills.question.id, *numbers, f"{kills.rate:.1%}", f"`{_digest(bank, kills.question.id)}`"]
    return f"| {' | '.join(cells)} |"


def _total(rows: Iterable[str]) -> Total:
    numbers = [[int(cell) for cell in row.split("|")[3:6]] for row in rows]
    return Total(*(sum(column) for column in zip(*numbers, strict=True))) if numbers else Total(0, 0, 0)


def _digest(bank: Bank, name: str) -> str:
    question = bank.find(name)
    decides = [
        [entry.signature for entry in question.entry],
        dataclasses.asdict(question.limits),
        [question.device.value, question.budget],
        [[check.test, check.needs, check.only, check.device.value] for check in question.checks],
        [
            [path.relative_to(bank.root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()]
            for path in sorted(bank.files_of(question))
            if path != question.path
        ],
    ]
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:_DIGITS]
