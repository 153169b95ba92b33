"""A bank: a folder of questions, read whole. Every fault of every file is told in one go.

Here is the level of the faults that no single file shows: a check without its test, a test without its check, a missing
grader or solution, two questions with one name.
"""

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proctorch.bank.question import Question
from proctorch.bank.text import Fault, nearest, parse_python, printable
from proctorch.errors import BankError, Diagnostic, UsageError
from proctorch.shipped import default_bank

if TYPE_CHECKING:
    from proctorch.bank.reading import QuestionFile
    from proctorch.bank.sets import QuestionSet

#: The folders of a question's solutions: each is named after the verdict that its submissions must get.
SOLUTION_FOLDERS = (
    "accepted",
    "partial",
    "wrong_answer",
    "runtime_error",
    "time_limit",
    "memory_limit",
    "process_limit",
    "file_limit",
    "output_limit",
    "invalid",
)

#: The folders that make a bank's digest: what decides a grade.
_GRADED_BY = ("questions", "graders", "solutions")
_SETS = "sets"  # questions/sets/ holds no questions


@dataclass(frozen=True)
class Bank:
    """A folder of questions, sorted by topic and id, with their graders and solutions beside them."""

    root: Path
    questions: tuple[Question, ...]
    #: Sorted by id.
    sets: tuple["QuestionSet", ...] = ()

    @classmethod
    def load(cls, path: Path | str | None = None, *, parse_graders: bool = True) -> "Bank":
        """The bank at `path`, or the default bank. Its root and its questions' paths are absolute.

        Without `parse_graders`, the graders must be there but are not read: enough to show questions, and faster.

        Raises UsageError if `path` is no bank, and BankError with every fault of every file.
        """
        given = default_bank() if path is None else Path(path)
        root = Path(os.path.abspath(given))  # noqa: PTH100 — Path.resolve would follow links away from the given path
        if not (root / "questions").is_dir():
            raise UsageError(
                f"no questions/ folder in {given}; a bank is a folder with questions/, graders/ and solutions/"
            )
        reading = _Reading(given, root, parse_graders=parse_graders)
        questions, sets = reading.contents()
        if reading.faults:
            raise BankError(reading.faults)
        return cls(root, questions, sets)

    def find(self, name: str) -> Question:
        """The question with this id, code (in any case), or `topic/id`. Raises UsageError if there is none."""
        if chosen := self.find_set(name):
            theirs = ", ".join(question.id for question in chosen.questions)
            raise UsageError(f"`{name}` is a set; name one of its questions: {theirs}")
        names = {each: question for question in self.questions for each in _names(question)}
        question = names.get(name) or names.get(name.upper())
        if question is None:
            known = [*names, *(each.id for each in self.sets)]
            raise UsageError(f"no question `{name}` in the bank{nearest(name, known)}")
        return question

    def find_set(self, name: str) -> "QuestionSet | None":
        """The set with this id, or None if it is no set's."""
        return next((each for each in self.sets if each.id == name), None)

    def find_all(self, names: Iterable[str]) -> tuple[Question, ...]:
        """The questions that are named as for `find`, or by the set that they are in, each once, in their order."""
        found: dict[str, Question] = {}
        for name in names:
            chosen = self.find_set(name)
            found |= {each.id: each for each in (chosen.questions if chosen else (self.find(name),))}
        return tuple(found.values())

    def select(
        self, topic: str | None = None, difficulty: int | None = None, tag: str | None = None
    ) -> tuple[Question, ...]:
        """The questions that fit all that is given, in order. Raises UsageError for a topic or tag that none has."""
        _known("topic", topic, (question.topic for question in self.questions))
        _known("tag", tag, (each for question in self.questions for each in question.tags))
        return tuple(
            question
            for question in self.questions
            if topic in {None, question.topic}
            and difficulty in {None, question.difficulty}
            and (tag is None or tag in question.tags)
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the names and bytes of all questions, graders and solutions: the same wherever the bank lies."""
        return self._digest(path for folder in _GRADED_BY for path in _files(self.root / folder))

    def digest_of(self, question: Question) -> str:
        """The same over the files of one question: its YAML, its grader, its solutions."""
        return self._digest(self.files_of(question))

    def files_of(self, question: Question) -> list[Path]:
        """All files of a question: its YAML, its grader and its solutions."""
        return [question.path, *_files(question.grader), *_files(question.solutions)]

    def _digest(self, files: Iterable[Path]) -> str:
        named = {path.relative_to(self.root).as_posix(): path for path in files}
        digest = hashlib.sha256()
        for name in sorted(named):
            content = named[name].read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
        return digest.hexdigest()


def _names(question: Question) -> list[str]:
    code = [question.code] if question.code else []
    return [question.id, *code, f"{question.topic}/{question.id}"]


def _known(what: str, name: str | None, known: Iterable[str]) -> None:
    names = sorted(set(known))
    if name is not None and name not in names:
        raise UsageError(f"no question has the {what} `{name}`{nearest(name, names)}")


def _files(folder: Path) -> Iterator[Path]:
    """The files of a bank's folder, without hidden ones, Python's caches, and the sets of questions."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != "__pycache__" and not each.startswith(".")]
        if parent == str(folder) and folder.name == "questions" and _SETS in folders:
            folders.remove(_SETS)
        for name in names:
            if not name.startswith(".") and not name.endswith(".pyc"):
                yield Path(parent, name)


class _Reading:
    """One reading of a bank: its questions, and the faults met so far."""

    def __init__(self, given: Path, root: Path, *, parse_graders: bool) -> None:
        self.faults: list[Diagnostic] = []
        self._given = given
        self._root = root
        self._parse_graders = parse_graders
        self._here = Path.cwd()

    def contents(self) -> tuple[tuple[Question, ...], tuple["QuestionSet", ...]]:
        """The questions and the sets of them, as far as they have no faults."""
        # Imported here: with it come yaml and pydantic, and who is only handed a Bank needs neither.
        from proctorch.bank.reading import read_question  # noqa: PLC0415

        read: list[QuestionFile] = []
        paths = self._question_paths()
        for path in paths:
            question_file = None
            try:
                question_file = read_question(path, self._shown(path))
                read.append(question_file)
            except BankError as error:
                self.faults += error.diagnostics
            self._check_grader(path, question_file)
            self._check_solutions(path)
        self._check_names(paths, read)
        self._check_strays({(path.parent.name, path.stem) for path in paths})
        questions = {path.stem: None for path in paths} | {each.question.id: each.question for each in read}
        return tuple(each.question for each in read), self._sets(questions)

    def _sets(self, questions: "dict[str, Question | None]") -> tuple["QuestionSet", ...]:
        folder = self._root / "questions" / _SETS
        if not folder.is_dir():
            return ()
        from proctorch.bank.sets import read_set  # noqa: PLC0415 - as in `contents`

        sets: list[QuestionSet] = []
        for path in sorted(_files(folder)):
            if path.suffix != ".yaml" or path.parent != folder:
                self._fault(path, "not a set; questions/sets/ holds <id>.yaml only, so move it away")
                continue
            found, faults = read_set(path, questions)
            sets += [found] if found else []
            for line, column, message in faults:
                self._fault(path, message, (line, column))
        return tuple(sets)

    def _shown(self, path: Path) -> str:
        """From the current folder if it is below it, else as the bank was given."""
        below = path.is_relative_to(self._here)
        return str(path.relative_to(self._here) if below else self._given / path.relative_to(self._root))

    def _fault(self, path: Path, message: str, place: tuple[int, int] = (1, 1)) -> None:
        self.faults.append(Diagnostic(self._shown(path), *place, printable(message)))

    def _question_paths(self) -> list[Path]:
        """Where there should be questions, sorted by topic and id."""
        paths: list[Path] = []
        questions = self._root / "questions"
        for path in _files(questions):
            if path.suffix in {".yml", ".YAML", ".YML"}:
                self._fault(path, f"a question's file ends in .yaml; rename it to {path.stem}.yaml")
            elif path.suffix != ".yaml":
                if path.stem != "README":
                    self._fault(path, "not a question; questions/ holds <topic>/<id>.yaml only, so move it away")
            elif path.parent.parent != questions:
                self._fault(path, "a question lies in questions/<topic>/<id>.yaml; move it there")
            else:
                paths.append(path)
        return sorted(paths, key=lambda path: (path.parent.name, path.stem))

    def _check_grader(self, path: Path, question_file: "QuestionFile | None") -> None:
        grader = self._root / "graders" / path.parent.name / path.stem
        self._parsed(path, grader / "scenarios.py")
        tests = grader / f"test_{path.stem.replace('-', '_')}.py"
        if (source := self._parsed(path, tests)) is None:
            return
        found = _tests_in(*source)
        for name, place, line in found.repeated:
            # Python keeps the last one and says nothing.
            self._fault(tests, f"{name} is defined twice, first on line {line}; rename one of them", place)
        if question_file:
            self._check_listed(path, tests, question_file, found)

    def _check_listed(self, path: Path, tests: Path, question_file: "QuestionFile", found: "_Tests") -> None:
        """Each check has its test, and each test its check."""
        question, document = question_file
        listed = [check.test for check in question.checks]
        for index, name in enumerate(listed):
            if name in found.defined:
                continue
            if name in found.misplaced:
                why = f"is async or nested in {self._shown(tests)}; write it as a plain `def` at the top level"
            else:
                why = f"does not exist in {self._shown(tests)}; write it{nearest(name, found.defined)}"
            self._fault(path, f"{name} {why}", document.place(("checks", index, "test")))
        for name, place in found.defined.items():
            if name not in listed:
                self._fault(tests, f"{name} is in no check of {self._shown(path)}; list it there", place)
        for name, place in found.misplaced.items():
            if name not in listed:
                self._fault(tests, f"{name} is async or nested; write it as a plain `def` at the top level", place)

    def _parsed(self, path: Path, file: Path) -> tuple[bytes, ast.Module] | None:
        """The source and syntax tree of one of the grader's files, or None if there is nothing to look at in it."""
        if not file.is_file():
            self._fault(path, f"the grader has no {self._shown(file)}; write it")
            return None
        if not self._parse_graders:
            return None
        try:
            source = file.read_bytes()
        except OSError as error:
            self._fault(file, f"cannot be read: {error.strerror}")
            return None
        tree = parse_python(source)
        if isinstance(tree, Fault):
            self._fault(file, tree.message, (tree.line, tree.column))
            return None
        return source, tree

    def _check_solutions(self, path: Path) -> None:
        from proctorch.bank.equivalent import EQUIVALENT, parse_equivalent  # noqa: PLC0415 - it needs yaml

        solutions = self._root / "solutions" / path.parent.name / path.stem
        accepted = rejected = 0
        for each in sorted(solutions.iterdir()) if solutions.is_dir() else ():
            if each.name.startswith((".", "__pycache__")):
                continue
            if each.name == EQUIVALENT and each.is_file():
                for fault in parse_equivalent(each.read_bytes())[1]:
                    self._fault(each, fault.message, (fault.line, fault.column))
            elif not each.is_dir():
                self._fault(each, "lies beside the folders of verdicts; move it into one, such as accepted/")
            elif each.name not in SOLUTION_FOLDERS:
                near = nearest(each.name, SOLUTION_FOLDERS) or f"; the verdicts are {', '.join(SOLUTION_FOLDERS)}"
                self._fault(each, f"`{each.name}` is no verdict for a solution{near}")
            elif each.name == "accepted":
                accepted = len(list(each.glob("*.py")))
            else:
                rejected += len(list(each.glob("*.py")))
        if accepted < 2:
            where = self._shown(solutions / "accepted")
            self._fault(path, f"fewer than two accepted solutions in {where}; write two that really differ")
        if not rejected:
            where = self._shown(solutions)
            self._fault(path, f"no wrong solution in {where}; write one that the grader must reject, in wrong_answer/")

    def _check_names(self, paths: list[Path], read: list["QuestionFile"]) -> None:
        ids: dict[str, Path] = {}
        for path in paths:
            if (first := ids.setdefault(path.stem, path)) != path:
                self._fault(path, f"{self._shown(first)} has the same id `{path.stem}`; rename one of them")
        codes: dict[str, Path] = {}
        for question, document in read:
            if question.code and (first := codes.setdefault(question.code, question.path)) != question.path:
                message = f"{self._shown(first)} has the same code {question.code}; change one of them"
                self._fault(question.path, message, document.place(("code",)))

    def _check_strays(self, known: set[tuple[str, str]]) -> None:
        for kind in ("graders", "solutions"):
            for folder in sorted((self._root / kind).glob("*/*/")):
                topic, name = folder.parent.name, folder.name
                if folder.is_dir() and (topic, name) not in known and any(_files(folder)):
                    missing = self._shown(self._root / "questions" / topic / f"{name}.yaml")
                    self._fault(folder, f"there is no {missing} for this folder; write it, or remove the folder")


class _Tests(NamedTuple):
    """The tests in a grader's file and their places."""

    defined: dict[str, tuple[int, int]]
    #: Async, or inside something: pytest, or the judge, would not play them.
    misplaced: dict[str, tuple[int, int]]
    #: Name, place, and the line of the first of that name.
    repeated: list[tuple[str, tuple[int, int], int]]


def _tests_in(source: bytes, tree: ast.Module) -> _Tests:
    found = _Tests({}, {}, [])
    plain: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            plain.add(id(node))
            place = (node.lineno, node.col_offset + 1)
            first = found.defined.setdefault(node.name, place)
            if first != place:
                found.repeated.append((node.name, place, first[0]))
    if source.count(b"def test_") > len(plain):  # the walk costs as much as the parse
        functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
        for each in functions:
            if id(each) not in plain and each.name.startswith("test_") and each.name not in found.defined:
                found.misplaced[each.name] = (each.lineno, each.col_offset + 1)
    return found
