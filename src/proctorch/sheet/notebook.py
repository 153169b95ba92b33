"""A question as a Jupyter notebook, which is handed in as it is: `proctorch grade half_moved_batch.ipynb`."""

import ast
import json
from collections.abc import Iterator
from typing import Any

from proctorch.bank.question import Question
from proctorch.errors import UsageError
from proctorch.judge.notebook import SKIP_TAG
from proctorch.prose import lowered, plain
from proctorch.sheet.sheet import Edition, Sheet

#: Of the notebook format: 4.5 has ids of cells.
_FORMAT, _MINOR = 4, 5
_GRADE = """\
# Save the notebook first: the file is graded, not what runs here.
import importlib.util

if importlib.util.find_spec("proctorch"):
    !proctorch grade {name}.ipynb
else:
    print("`pip install proctorch`, or hand the notebook in as it is")
"""
_SELF_CHECK = """\
# What the question shows, to be tried. This cell is not graded; the hidden checks look at more.
{source}


for name, test in [*globals().items()]:
    if name.startswith("test_"):
        try:
            test()
        except Exception as error:
            print(f"{{name}}: {{test.__doc__}} It does not: {{type(error).__name__}} {{error}}")
        else:
            print(f"{{name}}: passed")
"""


def render(sheet: Sheet) -> str:
    """The notebook's JSON: the question, cells for the imports and each entry point, the self-check, one that grades.

    UsageError for a sheet of several questions, or for another edition than the candidate's.
    """
    if len(sheet.items) != 1:
        raise UsageError("a notebook is handed in for one question; give one ID, or make a kit, which has one for each")
    if sheet.edition is not Edition.CANDIDATE:
        raise UsageError("a notebook is the candidate's; the other editions are .pdf, .html or .md")
    question = sheet.items[0].question
    notebook = {
        "cells": list(_cells(sheet, question)),
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": _FORMAT,
        "nbformat_minor": _MINOR,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _cells(sheet: Sheet, question: Question) -> Iterator[dict[str, Any]]:
    from proctorch.judge.grade import show_points  # noqa: PLC0415 - with it comes what reads evidence

    words = sheet.settings.words
    facts = f"{question.minutes} {words['minutes']} · {show_points(question.points)} {words['points']}"
    yield _text(
        "question", f"# {plain(sheet.title)}\n\n{facts} · {words['form']} {sheet.form}\n\n{lowered(question.prompt, 1)}"
    )
    checks = [f"| {check.title} | {show_points(check.points)} |" for check in question.checks]
    yield _text("checks", "\n".join([f"| {words['checks']} | {words['points']} |", "|---|--:|", *checks]))
    for at, part in enumerate(_parts(question)):
        name = f"# proctorch: {question.id}\n" if at == 0 else ""
        yield _code(f"code-{at}", name + part)
    if question.self_check:
        yield _ungraded("self-check", _SELF_CHECK.format(source=question.self_check.rstrip()))
    yield _ungraded("grade", _GRADE.format(name=question.module))


def _parts(question: Question) -> Iterator[str]:
    """The starter in pieces: what comes before each entry point's definition, and each definition."""
    lines = question.starter.splitlines()
    wanted = {entry.name for entry in question.entry}
    begins = [0]
    for node in ast.parse(question.starter).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in wanted:
            begins += [min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1]
    ends = [*begins[1:], len(lines)]
    pieces = ["\n".join(lines[begin:end]).strip("\n") for begin, end in zip(begins, ends, strict=True)]
    return (piece for piece in pieces if piece)


def _text(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def _ungraded(name: str, text: str) -> dict[str, Any]:
    return _code(name, text) | {"metadata": {"tags": [SKIP_TAG]}}


def _code(name: str, text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {},
        "outputs": [],
        "source": text.splitlines(keepends=True),
    }
