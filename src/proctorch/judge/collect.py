"""Finds the submissions among what was handed in: files, folders and archives."""

import ast
import os
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from proctorch.bank.bank import Bank
from proctorch.bank.question import Question
from proctorch.errors import UsageError
from proctorch.judge import files
from proctorch.judge.submission import Submission, name_question

#: In a folder that is named after a question, files that are no answers by their names.
_NO_ANSWER = re.compile(r"test_.*|.*_test|tests|conftest|setup|__\w+__")
_MAX_NAMED = 8


@dataclass(frozen=True)
class Collected:
    """Submissions in the order in which they were given, and what was left out and why, a line each."""

    submissions: tuple[Submission, ...]
    notes: tuple[str, ...]


def collect(bank: Bank, paths: Iterable[Path], question: Question | None = None) -> Collected:
    """The submissions at these paths: a file is one; of a folder or an archive, each file that names its question.

    In one folder one question has one file: UsageError names two. A folder that is named after a question, or
    `question` given, makes every file of Python in it a submission, but for those that another one imports and that
    define nothing that the question asks for. UsageError also if a path cannot be read or has no submission in it.
    """
    found: dict[Path, Submission] = {}
    notes: list[str] = []
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
            tree = files.read_folder(path)
            inner = [(path / name, files.read_archive(path / name)) for name in tree.archives]
            trees = [(path, replace(tree, archives=())), *inner]
        elif files.is_archive(path.name):
            trees = [(path, files.read_archive(path))]
        else:
            submission = Submission(path)
            found.setdefault(path.absolute(), submission)
            continue
        several = [_Searched(bank, root, each, question) for root, each in trees]
        if not any(each.submissions for each in several):
            raise UsageError(_nothing(bank, path, [str(root / name) for root, each in trees for name in each.files]))
        for each in several:
            found |= {one.path.absolute(): one for one in each.submissions if one.path.absolute() not in found}
            notes += each.notes
    return Collected(tuple(found.values()), tuple(notes))


@dataclass(frozen=True)
class _Candidate:
    """A file that may be a submission. `itself`: it names the question itself, not only a folder that it is in."""

    submission: Submission
    question: Question
    itself: bool


class _Searched:
    """One folder or archive, searched."""

    def __init__(self, bank: Bank, root: Path, tree: files.Tree, question: Question | None) -> None:
        self.notes: list[str] = [f"{root / name}: not looked into: an archive in an archive" for name in tree.archives]
        self.notes += [f"{root / name}: not looked into: a symbolic link" for name in tree.links]
        read = [
            Submission.read(root / name, content, tree.beside(name)) for name, content in sorted(tree.files.items())
        ]
        imported_by = [each for each in read if not _is_no_answer(each)]  # a test imports the answer that it tries
        helpers = {each.path.parent / name for each in imported_by for name, _ in each.helpers}
        groups: dict[tuple[Path, str], list[_Candidate]] = {}
        for submission in read:
            named = _named(bank, submission, question)
            if isinstance(named, str):
                if submission.path not in helpers:
                    self.notes.append(named)
            elif submission.path not in helpers or _may_answer(submission, named.question):
                groups.setdefault((submission.path.parent, named.question.id), []).append(named)
        self.submissions = [each.submission for group in groups.values() for each in self._of_one_folder(group)]

    def _of_one_folder(self, group: list[_Candidate]) -> list[_Candidate]:
        """Of the files in one folder for one question, those that are submissions."""
        named = [each for each in group if each.itself]
        themselves = _without_starters(named) if len(named) > 1 else named
        if len(themselves) > 1:
            names = ", ".join(str(each.submission.path) for each in themselves[:_MAX_NAMED])
            raise UsageError(
                f"{len(themselves)} files of one folder answer {themselves[0].question.id}: {names}; keep one, put each"
                f" candidate's into a folder, or say --question {themselves[0].question.id} to have them all graded"
            )
        chosen = themselves or [each for each in group if not _is_no_answer(each.submission)]
        self.notes += [
            f"{each.submission.path}: ignored: "
            + (f"the answer is {chosen[0].submission.path.name}" if themselves else "by its name no answer")
            for each in group
            if each not in chosen
        ]
        return chosen


def _is_no_answer(submission: Submission) -> bool:
    return bool(_NO_ANSWER.fullmatch(submission.path.stem.lower()))


def _without_starters(named: list[_Candidate]) -> list[_Candidate]:
    """A kit has the starter twice, as a file and as a notebook: one that nobody touched is no second answer."""
    return [each for each in named if not _is_starter(each)] or named[:1]


def _is_starter(candidate: _Candidate) -> bool:
    """Whether it is the starter, but for comments and the layout."""
    tree = _tree(candidate.submission)
    try:
        return tree is not None and ast.dump(tree) == ast.dump(ast.parse(candidate.question.starter))
    except RecursionError:  # deeper than any starter
        return False


def _tree(submission: Submission) -> ast.Module | None:
    """What its source parses to, if it does."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(submission.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _named(bank: Bank, submission: Submission, question: Question | None) -> _Candidate | str:
    """The submission with its question, or why it is ignored."""
    if question:
        return _Candidate(submission, question, itself=False)
    try:
        named = name_question(bank, submission)
    except UsageError as error:
        return f"{error}; ignored"
    return _Candidate(submission, *named) if named else f"{submission.path}: ignored: names no question"


def _may_answer(submission: Submission, question: Question) -> bool:
    """Whether it defines something that the question asks for, or cannot be told."""
    tree = _tree(submission)
    if not tree:
        return True
    defined: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                defined.add(node.name)
            case ast.Import() | ast.ImportFrom():
                defined.update(alias.asname or alias.name for alias in node.names)
            case _:
                defined.update(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return any(entry.name in defined for entry in question.entry)


def _nothing(bank: Bank, path: Path, names: list[str]) -> str:
    looked = (
        f"{path}: no answers in it; looked for .py and .ipynb files that name a question in their name, such as"
        f" {bank.questions[0].module}.py, in a folder's name, or in a line `# proctorch: ID`"
    )
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return f"{looked}; there are {', '.join(names[:_MAX_NAMED])}{more}" if names else f"{looked}; there is none"
