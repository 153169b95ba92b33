"""Submissions are taken as they come: notebooks, encodings, names, helper files, folders and archives."""

import codecs
import contextlib
import gzip
import io
import json
import os
import stat
import tarfile
import time
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctorch.bank.bank import Bank
from proctorch.devices import CPU
from proctorch.errors import UsageError
from proctorch.judge import files
from proctorch.judge.collect import Collected, collect
from proctorch.judge.grade import Grade, Place, Verdict
from proctorch.judge.notebook import NoNotebook, extract
from proctorch.judge.plan import Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission, find_question

_fuzz = settings(
    derandomize=True,
    deadline=None,
    max_examples=200,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
BANK = Bank.load(Path(__file__).parent / "bank")
RIGHT = "def double(x):\n    return x + x\n"


def write(root: Path, contents: Mapping[str, str | bytes]) -> Path:
    """Writes files, by relative name, below `root`."""
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def notebook(*cells: str | dict[str, object], **more: object) -> bytes:
    """A notebook of nbformat 4: a text is a code cell."""
    made = [{"cell_type": "code", "metadata": {}, "source": each} if isinstance(each, str) else each for each in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made} | more).encode()


# ---------------------------------------------------------------------------------------------------- end to end


@dataclass(frozen=True)
class Case:
    """Files, the one that is graded, and what becomes of it."""

    file: str
    contents: dict[str, str | bytes]
    verdict: Verdict = Verdict.ACCEPTED
    reason: str = ""
    place: Place | None = None
    notes: tuple[str, ...] = ()
    printed: str = ""


def alone(name: str, content: str | bytes, *args: object, **kwargs: object) -> Case:
    return Case(name, {name: content}, *args, **kwargs)  # type: ignore[arg-type]  # passed on as they are


ACCENTED = "def double(x):\n    'é'\n    return x + x\n"
LATE = """
import importlib

def double(x):
    import late
    return importlib.import_module("later").twice(late.same(x))
"""
INSPECTED = """
import inspect

def twice(x):
    assert "x + x" in inspect.getsource(twice)
    return x + x
"""
IMPORTS = "from tools.shapes import twice as double\n"
CASES = {
    # ---- names
    "spaces": alone("two words.py", f"{RIGHT}print(__name__)\n", printed="two_words\n"),
    "letters": alone("élève-2.py", f"{RIGHT}print(__name__)\n", printed="élève_2\n"),
    "letters_of_macos": alone("e\u0301le\u0300ve.py", f"{RIGHT}print(__name__)\n", printed="élève\n"),
    "digit": alone("2nd.py", f"{RIGHT}print(__name__)\n", printed="_2nd\n"),
    "name_of_python": alone(
        "random.py", f"import random\nrandom.random()\n{RIGHT}print(__name__)\n", printed="random_\n"
    ),
    "name_of_a_package": alone(
        "torch.py", f"import torch\n{RIGHT}print(torch.ones(1).item(), __name__)\n", printed="1.0 torch_\n"
    ),
    "name_of_a_scenario": alone("scenarios.py", RIGHT),
    # ---- encodings
    "lone_carriage_returns": alone(
        "double.py",
        "# coding: latin-1\r\rdef double(x):\r    return x.twice\r",
        Verdict.RUNTIME_ERROR,
        "line 4: AttributeError: 'Tensor' object has no attribute 'twice'",
        Place(4, "double"),
    ),
    "declared": alone("double.py", f"# coding: cp1251\n{RIGHT}print('\u044f')\n".encode("cp1251"), printed="я\n"),
    "source_that_is_asked_for": alone(
        "double.py",
        f"# coding: latin-1\nimport inspect\n\x0c\n{ACCENTED}print(inspect.getsource(double))\n".encode("latin-1"),
        printed=f"{ACCENTED}\n",
    ),
    "utf_16": alone(
        "double.py",
        RIGHT.encode("utf-16"),
        Verdict.INVALID,
        "it is UTF-16 text, which Python does not read; save it as UTF-8",
    ),
    "utf_16_without_a_mark": alone(
        "double.py",
        RIGHT.encode("utf-16-be"),
        Verdict.INVALID,
        "it is UTF-16-BE text, which Python does not read; save it as UTF-8",
    ),
    "no_text_encoding": alone(
        "double.py",
        f"# coding: rot13\n{RIGHT}",
        Verdict.INVALID,
        "it is not valid Python: 'rot13' is not a text encoding; use codecs.decode() to handle arbitrary codecs",
    ),
    # ---- helper files
    "helper": Case(
        "double.py",
        {"double.py": IMPORTS, "tools/shapes.py": "def twice(x):\n    return x + x\n"},
        notes=("with its helper file tools/shapes.py",),
    ),
    "helpers_of_helpers": Case(
        "double.py",
        {
            "double.py": IMPORTS,
            "tools/__init__.py": "from . import shapes\nfrom .numbers import TWO\n",
            "tools/shapes.py": "from .numbers import TWO\n\n\ndef twice(x):\n    return x * TWO\n",
            "tools/numbers.py": "import élan\n\nTWO = élan.two\n",
            "e\u0301lan.py": "two = 2\n",
            "unused.py": "raise ValueError\n",
        },
        notes=("with its helper files tools/__init__.py, tools/numbers.py, tools/shapes.py, élan.py",),
    ),
    "helper_at_call_time": Case(
        "double.py",
        {
            "double.py": LATE,
            "late.py": "def same(x):\n    return x\n",
            "later.py": INSPECTED,
        },
        notes=("with its helper files late.py, later.py",),
    ),
    "helper_in_a_script": Case(
        "double.py",
        {
            "double.py": "import torch, tools\ndouble = torch.jit.script(tools.double)\n",
            "tools.py": "import torch\n\n\ndef double(x: torch.Tensor) -> torch.Tensor:\n    return x + x\n",
        },
        notes=("with its helper file tools.py",),
    ),
    "helper_that_python_has": Case(
        "double.py",
        {"double.py": f"import random\nrandom.random()\n{RIGHT}", "random.py": "x = 1\n"},
        notes=("random.py is not taken along: Python has a module of that name, or a package that is installed",),
    ),
    "helper_that_raises": Case(
        "double.py",
        {
            "double.py": "import tools\n\n\ndef double(x):\n    return tools.twice(x)\n",
            "tools.py": "def twice(x):\n    return x.twice\n",
        },
        Verdict.RUNTIME_ERROR,
        "line 5: AttributeError: 'Tensor' object has no attribute 'twice' (tools.py, line 2)",
        Place(5, "double"),
        ("with its helper file tools.py",),
    ),
    "helper_that_is_no_python": Case(
        "double.py",
        {"double.py": "import tools\n", "tools.py": "def twice(x:\n"},
        Verdict.RUNTIME_ERROR,
        "line 1: at import: SyntaxError: '(' was never closed (tools.py, line 1)",
        None,
        ("with its helper file tools.py",),
    ),
    "helper_that_is_not_there": alone(
        "double.py",
        "import tools\n",
        Verdict.RUNTIME_ERROR,
        "line 1: at import: ModuleNotFoundError: No module named 'tools'",
    ),
    "helper_that_is_large": Case(
        "double.py",
        {"double.py": f"import tools\n{RIGHT}", "tools.py": f"x = '{'é' * 400_000}'\n"},
        notes=("with its helper file tools.py",),
    ),
    "large": alone("double.py", f"{RIGHT}x = '{'é' * 500_000}'\n"),
    # ---- notebooks
    "notebook": alone(
        "double.ipynb",
        notebook("%matplotlib inline\nimport torch", {"cell_type": "markdown", "source": "# text"}, RIGHT),
        notes=("cell 1: `%matplotlib inline` skipped",),
    ),
    "notebook_with_a_helper": Case(
        "double.ipynb",
        {"double.ipynb": notebook(IMPORTS), "tools/shapes.py": "def twice(x):\n    return x + x\n"},
        notes=("with its helper file tools/shapes.py",),
    ),
    "notebook_that_explores": alone(
        "double.ipynb",
        notebook(RIGHT, "import torch\ntorch.ones(1, 2) @ torch.ones(3, 3)"),
        Verdict.RUNTIME_ERROR,
        "cell 2, line 2: at import: RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 3x3)",
    ),
    "notebook_that_displays": alone(
        "double.ipynb",
        notebook(RIGHT, "display(double(1))"),
        Verdict.RUNTIME_ERROR,
        "cell 2, line 1: at import: NameError: name 'display' is not defined: display is a notebook's own, and the code"
        " runs as plain Python",
    ),
    "notebook_that_waits": alone(
        "double.ipynb",
        notebook(RIGHT, "import asyncio", "\nawait asyncio.sleep(0)"),
        Verdict.INVALID,
        "cell 3, line 2: it is not valid Python: 'await' outside function: a notebook allows it at top level, plain"
        " Python does not",
    ),
    "notebook_in_r": alone(
        "double.ipynb",
        notebook("x <- 1", metadata={"kernelspec": {"language": "R"}}),
        Verdict.INVALID,
        "the notebook's language is R, not Python",
    ),
    "notebook_that_is_none": alone(
        "double.ipynb",
        "{",
        Verdict.INVALID,
        "it is no notebook: no JSON (Expecting property name enclosed in double quotes at line 1)",
    ),
    "notebook_with_half_a_letter": alone(
        "double.ipynb",
        notebook(RIGHT, "print('\ud800')"),
        Verdict.INVALID,
        "cell 2, line 1: it is not valid Python: (unicode error) 'utf-8' codec can't decode byte 0xed in position 0:"
        " invalid continuation byte",
    ),
}


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Grade]:
    """All cases, graded in one session."""
    made = []
    for name, case in CASES.items():
        made.append(Submission(write(tmp_path_factory.mktemp(name), case.contents) / case.file))
    plan = Plan.build(BANK, made, devices=[CPU], question=BANK.questions[0])
    return dict(zip(CASES, Grading(plan).run(), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_as_it_comes(grades: dict[str, Grade], name: str) -> None:
    """Each is read as its author meant it, or is told in one line why not; what was done to read it is said."""
    case, grade = CASES[name], grades[name]
    assert (grade.verdict, grade.reason) == (case.verdict, case.reason)
    assert grade.checks[0].place == case.place
    assert grade.notes == case.notes
    assert grade.stdout.text == case.printed


def test_the_text_of_utf_16_is_shown(grades: dict[str, Grade]) -> None:
    """What Python cannot read, a person can."""
    assert grades["utf_16"].source.endswith(RIGHT)
    assert grades["utf_16_without_a_mark"].source == RIGHT


# ---------------------------------------------------------------------------------------------------- notebooks


@pytest.mark.parametrize(
    ("cell", "lines", "skipped"),
    [
        ("x = 1\n", ["x = 1"], []),
        ("x = (7\n % 3)", ["x = (7", " % 3)"], []),
        ('"""\n%time\n!ls\n"""\n%time', ['"""', "%time", "!ls", '"""', "# %time"], ["%time"]),
        ("x = (\n  7\n  % 3)\n!ls", ["x = (", "  7", "  % 3)", "# !ls"], ["!ls"]),
        ("x = 7 \\\n% 3\n!ls", ["x = 7 \\", "% 3", "# !ls"], ["!ls"]),
        ("x = 1  # it's (\n!ls", ["x = 1  # it's (", "# !ls"], ["!ls"]),
        ("s = 'a\\'('\n!ls 'x", ["s = 'a\\'('", "# !ls 'x"], ["!ls 'x"]),
        ("if x:\n    !pip install y\nz", ["if x:", "    pass  # !pip install y", "z"], ["!pip install y"]),
        ("!pip install \\\n  torch\nx", ["# !pip install \\", "#   torch", "x"], ["!pip install \\"]),
        ("files = !ls\na, b = %env X\n?f\ng??", ["# files = !ls", "# a, b = %env X", "# ?f", "# g??"],
         ["files = !ls", "a, b = %env X", "?f", "g??"]),
        ("\n%%time\ny = 2\n%who", ["", "# %%time", "y = 2", "# %who"], ["%%time", "%who"]),
        ("x = y != z\nx %= 2\nthis is no Python", ["x = y != z", "x %= 2", "this is no Python"], []),
    ],
)  # fmt: skip
def test_magics(cell: str, lines: list[str], skipped: list[str]) -> None:
    """Lines that only a notebook understands become comments where they stand; Python stays as it is."""
    code = extract(notebook(cell))
    assert code.source.decode().split("\n")[3:-1] == lines
    assert code.notes == tuple(f"cell 1: `{each}` skipped" for each in skipped)


def test_cells_that_do_not_count() -> None:
    """Text, raw cells, other languages and cells with the tag are left out; numbers are those of the notebook."""
    code = extract(
        notebook(
            {"cell_type": "markdown", "source": "x"},
            {"cell_type": "raw", "source": "x"},
            {"cell_type": "code", "source": ["%%bash\n", "ls"]},
            {"cell_type": "code", "source": "1 / 0", "metadata": {"tags": ["a", "proctorch-skip"]}},
            {"cell_type": "code", "source": ["x = 1\r\n", "y = 2"]},
        )
    )
    assert code.source.decode() == (
        "# coding: utf-8; the code cells of a notebook, in order\n\n"
        "# cell 3: skipped, not Python (`%%bash`)\n\n"
        "# cell 4: skipped, as its tag `proctorch-skip` asks\n\n"
        "# cell 5\nx = 1\ny = 2\n"
    )
    assert code.notes == ("cell 3: skipped, not Python (`%%bash`)", "cell 4: skipped, as its tag `proctorch-skip` asks")
    submission = Submission.read(Path("a.ipynb"), notebook("x", "y\nz"), lambda _: None)
    assert [submission.where(line) for line in (1, 3, 4, 7, 8)] == [
        *("line 1", "line 3", "cell 1, line 1", "cell 2, line 1", "cell 2, line 2")
    ]


def test_an_old_notebook() -> None:
    """A notebook of nbformat 3 has its cells in worksheets."""
    sheets = [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python"}]}]
    code = extract(json.dumps({"nbformat": 3, "worksheets": sheets}).encode())
    assert code.source.decode().endswith("# cell 1\nx = 1\ny = 2\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is no notebook: no JSON (Expecting value at line 1)"),
        (b"\xff\xfe\xff", "it is no notebook: no JSON (UnicodeDecodeError)"),
        (b"[" * 100_000, "it is no notebook: no JSON (RecursionError)"),
        (b"9" * 5000, "it is no notebook: no JSON (ValueError)"),
        (b"[]", "it is no notebook: its JSON has no nbformat"),
        (b'{"nbformat": "4"}', "it is no notebook: its JSON has no nbformat"),
        (b'{"nbformat": 5, "cells": []}', "it is a notebook of nbformat 5; save it as nbformat 4"),
        (b'{"nbformat": 4}', "it is no notebook: it has no list of cells"),
        (b'{"nbformat": 3, "worksheets": 1}', "it is no notebook: it has no list of cells"),
        (b'{"nbformat": 4, "cells": [1, null]}', "the notebook has no code cells"),
        (notebook({"cell_type": "code", "source": 7}), "it is no notebook: cell 1 has no text"),
        (notebook({"cell_type": "code", "source": ["x", 7]}), "it is no notebook: cell 1 has no text"),
    ],
)
def test_no_notebook(content: bytes, why: str) -> None:
    """A file that is no notebook is told so in one line, whatever is in it."""
    with pytest.raises(NoNotebook) as raised:
        extract(content)
    assert str(raised.value) == why


def test_a_notebook_of_magics_is_read_in_no_time() -> None:
    """Neither a mebibyte of magics nor one of lines that look like them in an open string takes long."""
    began = time.process_time()
    code = extract(notebook("%a\n" * 300_000, '"""\n' + "%a\n" * 300_000))
    assert time.process_time() - began < 10
    assert code.notes[-1] == "299,980 more lines of the notebook skipped"
    assert len(code.notes) == 21


# ---------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("double_it.py", "", "double-it"),
        ("Double-It.py", "", "double-it"),
        ("double it (1).ipynb", notebook("x"), "double-it"),
        ("t1.py", "", "double-it"),
        ("double_it/main.py", "", "double-it"),
        ("a.py", codecs.BOM_UTF8 + b"# proctorch: T1\n", "double-it"),
        ("a.py", "#!python\r# proctorch: tiny/double-it\r", "double-it"),
        ("a.ipynb", notebook("# proctorch: T1"), "double-it"),
    ],
)
def test_which_question(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    """The question is named by the file, a folder or a line, in the spellings that people and browsers use."""
    write(tmp_path, {name: content})
    assert find_question(BANK, Submission(tmp_path / name)).id == expected


def test_an_encoding_that_is_slow() -> None:
    """An encoding made for names, which takes minutes for a text, is not used to show it."""
    began = time.process_time()
    assert Submission("a.py", b"# coding: punycode\n" + b"zz9k" * 250_000).text.endswith("zz9k")
    assert time.process_time() - began < 1


def test_what_is_no_plain_file(tmp_path: Path) -> None:
    """Links, folders, pipes and missing files are each refused in one line, and nothing waits for a pipe."""
    write(tmp_path, {"secret": "key", "a.py": "import linked, folder.b\n", "real/b.py": ""})
    (tmp_path / "linked.py").symlink_to("secret")
    (tmp_path / "folder").symlink_to("real")
    os.mkfifo(tmp_path / "pipe.py")
    for name, why in (
        ("linked.py", "is a symbolic link; give the file that it points to"),
        ("real", "is a folder"),
        ("pipe.py", "is no plain file"),
        ("none.py", "no such file"),
        ("nul\0.py", "cannot be read: "),
    ):
        with pytest.raises(UsageError) as raised:
            Submission(tmp_path / name)
        assert str(raised.value).startswith(f"{tmp_path / name}: {why}")
    submission = Submission(tmp_path / "a.py")
    assert submission.helpers == ()
    assert submission.notes == (
        "linked.py is not taken along: is a symbolic link; give the file that it points to",
        "folder/b.py is not taken along: is in a folder that is a symbolic link",
    )


def test_helpers_are_capped(tmp_path: Path) -> None:
    """Of too many helper files, and of too large ones, those that fit are taken, and the others are named."""
    write(tmp_path, {f"h{n}.py": "" for n in range(66)} | {"big.py": "#" * (1 << 20), "big2.py": "#"})
    imports = "\n".join(f"import h{n}" for n in range(66))
    many = Submission.read(tmp_path / "a.py", imports.encode(), files.beside(tmp_path / "a.py"))
    assert len(many.helpers) == 64
    assert many.notes[1:] == tuple(
        f"h{n}.py is not taken along: a submission has at most 64 helper files" for n in (64, 65)
    )
    large = Submission.read(tmp_path / "a.py", b"import big, big2", files.beside(tmp_path / "a.py"))
    assert [name for name, _ in large.helpers] == ["big.py"]
    assert large.notes[1] == "big2.py is not taken along: helper files have at most 1,048,576 bytes together"


def test_nothing_is_imported_from_above(tmp_path: Path) -> None:
    """No import leads out of the submission's folder, however it is written."""
    write(tmp_path, {"x.py": "", "in/a.py": "from .. import x\nfrom ..x import y\nimport_module('../x')\nimport x\n"})
    assert Submission(tmp_path / "in" / "a.py").helpers == ()


# ---------------------------------------------------------------------------------------------------- folders, archives


def collected(root: Path, *, asked: bool = False) -> Collected:
    return collect(BANK, [root], BANK.questions[0] if asked else None)


def names(found: Collected, root: Path) -> list[str]:
    return [each.path.relative_to(root).as_posix() for each in found.submissions]


IMPORTING = "import impl\ndouble = impl.twice\n"


@pytest.mark.parametrize(
    ("contents", "expected", "ignored"),
    [
        ({"double_it.py": RIGHT, "a.py": "", "README.md": "", "data.csv": ""}, ["double_it.py"],
         ["a.py: ignored: names no question"]),
        ({"double_it.py": IMPORTING, "impl.py": "# proctorch: T1\ntwice = 1"}, ["double_it.py"], []),
        ({"ada/T1.py": "", "bob/T1.py": "", "bob/x/y.py": "# proctorch: T1"},
         ["ada/T1.py", "bob/T1.py", "bob/x/y.py"], []),
        ({"T1/ada.py": "", "T1/bob.ipynb": notebook("x"), "T1/test_it.py": ""}, ["T1/ada.py", "T1/bob.ipynb"],
         ["T1/test_it.py: ignored: by its name no answer"]),
        ({"T1/main.py": IMPORTING, "T1/impl.py": "twice = 1"}, ["T1/main.py"], []),
        ({"T1/ada.py": "from bob import double", "T1/bob.py": RIGHT}, ["T1/ada.py", "T1/bob.py"], []),
        ({"T1/ada.py": "import bob", "T1/bob.py": "def double(x:"}, ["T1/ada.py", "T1/bob.py"], []),
        ({"T1/T1.py": RIGHT, "T1/scratch.py": ""}, ["T1/T1.py"], ["T1/scratch.py: ignored: the answer is T1.py"]),
        ({"T1.py": "", "b.py": "# proctorch: T9"}, ["T1.py"],
         ["b.py: no question `T9` in the bank; ignored"]),
        ({"T1.py": "", **dict.fromkeys(("__MACOSX/T1.py", "._T1.py", "__pycache__/T1.py", ".git/T1.py", "venv/T1.py",
          ".ipynb_checkpoints/T1.ipynb", ".DS_Store", "node_modules/T1.py"), "")}, ["T1.py"], []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["folder", "zip", "tar", "tgz"])
def test_a_folder_or_an_archive(
    tmp_path: Path, contents: dict[str, str | bytes], expected: list[str], ignored: list[str], form: str
) -> None:
    """Each file that names its question is a submission; what another one imports is a helper; junk is not there."""
    root = write(tmp_path / "answers", contents)
    if form != "folder":
        root = packed(root, tmp_path / f"answers.{form}")
    found = collected(root)
    assert names(found, root) == expected
    assert list(found.notes) == [f"{root}/{note}" for note in ignored]


def packed(folder: Path, target: Path) -> Path:
    """An archive of the folder's files."""
    every = sorted(path for path in folder.rglob("*") if path.is_file())
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in every:
                archive.write(path, path.relative_to(folder))
    else:
        with tarfile.open(target, "w:gz" if target.suffix == ".tgz" else "w") as tar:
            for path in every:
                tar.add(path, path.relative_to(folder))
    return target


def test_every_file_where_the_question_is_given(tmp_path: Path) -> None:
    """With the question given, every file is a submission, whatever it is called."""
    write(tmp_path, {"ada.py": RIGHT, "bob/x.py": RIGHT})
    assert names(collected(tmp_path, asked=True), tmp_path) == ["ada.py", "bob/x.py"]


def test_archives_in_a_folder(tmp_path: Path) -> None:
    """A folder of archives, one per candidate, is looked into; an archive in an archive is not, and this is said."""
    ada = packed(write(tmp_path / "src", {"T1.py": RIGHT}), tmp_path / "ada.zip")
    write(tmp_path / "class", {"ada.zip": ada.read_bytes()})
    assert names(collected(tmp_path / "class"), tmp_path) == ["class/ada.zip/T1.py"]
    write(tmp_path / "class", {"T1.py": RIGHT})
    whole = packed(tmp_path / "class", tmp_path / "class.zip")
    assert collected(whole).notes == (f"{whole}/ada.zip: not looked into: an archive in an archive",)


def test_two_files_for_one_question(tmp_path: Path) -> None:
    """Which of two files is meant cannot be guessed: both are named."""
    write(tmp_path, {"double_it.py": RIGHT, "old.py": f"# proctorch: T1\n{RIGHT}"})
    with pytest.raises(UsageError) as raised:
        collected(tmp_path)
    assert f"2 files of one folder answer double-it: {tmp_path}/double_it.py, {tmp_path}/old.py; keep" in str(
        raised.value
    )


def test_a_folder_without_answers(tmp_path: Path) -> None:
    """An empty search says what was looked for, and what was there."""
    write(tmp_path, {"a.py": "", "b.py": ""})
    with pytest.raises(UsageError) as raised:
        collected(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}: no answers in it; looked for .py and .ipynb files that name a question in their name, such as"
        f" double_it.py, in a folder's name, or in a line `# proctorch: ID`; there are {tmp_path}/a.py, {tmp_path}/b.py"
    )


def test_a_file_given_twice_is_graded_once(tmp_path: Path) -> None:
    """A file that is named, and is in a folder that is named, is one submission."""
    file = write(tmp_path, {"T1.py": RIGHT}) / "T1.py"
    assert len(collect(BANK, [file, tmp_path, file]).submissions) == 1


def test_no_stranger_helps(tmp_path: Path) -> None:
    """A candidate who imports another one's answer to the same question does not get it, and this is said."""
    write(tmp_path, {"ada.py": "from bob import double\nimport own", "bob.py": RIGHT, "own.py": "", "carl.py": RIGHT})
    ada, bob = (Submission(tmp_path / name) for name in ("ada.py", "bob.py"))
    plan = Plan.build(BANK, [ada, bob], devices=[CPU], question=BANK.questions[0])
    [helped, _] = [job.submission for job in plan.jobs]
    assert [name for name, _ in ada.helpers] == ["bob.py", "own.py"]
    assert [name for name, _ in helped.helpers] == ["own.py"]
    assert helped.notes[-1] == "bob.py is not taken along: it is another submission to this question"


# ---------------------------------------------------------------------------------------------------- hostile archives


@dataclass(frozen=True)
class Entry:
    """An entry of an archive as its author wants it."""

    name: str = "T1.py"
    content: bytes = RIGHT.encode()
    mode: int = stat.S_IFREG
    tar_type: bytes = tarfile.REGTYPE


def zip_of(*entries: Entry, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(data, "w", method) as archive:  # of equal names
        for entry in entries:
            info = zipfile.ZipInfo(entry.name)
            info.external_attr = (entry.mode | 0o644) << 16
            info.compress_type = method
            archive.writestr(info, entry.content)
    return data.getvalue()


def tar_of(*entries: Entry) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for entry in entries:
            info = tarfile.TarInfo(entry.name)
            info.type, info.linkname = entry.tar_type, "/etc/passwd" if entry.tar_type != tarfile.REGTYPE else ""
            info.size = len(entry.content) if entry.tar_type == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(entry.content))
    return data.getvalue()


def encrypted() -> bytes:
    """A zip file whose entry is said to be encrypted, in its header and in the directory."""
    data = bytearray(zip_of(Entry()))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    return bytes(data)


def lying(size: int) -> bytes:
    """A zip file of a mebibyte of zeros that says it has `size` bytes."""
    data = bytearray(zip_of(Entry(content=bytes(1 << 20))))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark) + offset
        data[at : at + 4] = size.to_bytes(4, "little")
    return bytes(data)


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "climbs": ("a.zip", lambda: zip_of(Entry("x/../../T1.py")), "`x/../../T1.py` in it leads out of the archive"),
    "climbs_windows": ("a.zip", lambda: zip_of(Entry("..\\T1.py")), "`../T1.py` in it leads out of the archive"),
    "absolute": ("a.zip", lambda: zip_of(Entry("/T1.py")), "`/T1.py` in it leads out of the archive"),
    "drive": ("a.zip", lambda: zip_of(Entry("C:/T1.py")), "`C:/T1.py` in it leads out of the archive"),
    "link": (
        "a.zip",
        lambda: zip_of(Entry(mode=stat.S_IFLNK)),
        "`T1.py` in it is a symbolic link; pack plain files alone",
    ),
    "device": ("a.zip", lambda: zip_of(Entry(mode=stat.S_IFCHR)), "`T1.py` in it is a device; pack plain files alone"),
    "password": ("a.zip", encrypted, "`T1.py` in it is protected by a password; pack plain files alone"),
    "twice": ("a.zip", lambda: zip_of(Entry(), Entry("./T1.py"), Entry()), "`T1.py` in it is there twice"),
    "bzip2": (
        "a.zip",
        lambda: zip_of(Entry(content=bytes(1 << 20)), method=zipfile.ZIP_BZIP2),
        "`T1.py` in it is compressed in a way that is not read (deflate is); pack plain files alone",
    ),
    "large": (
        "a.zip",
        lambda: zip_of(Entry(content=bytes((1 << 20) + 1))),
        "`T1.py` in it has 1,048,577 bytes; at most 1,048,576 are read",
    ),
    "says_small": (
        "a.zip",
        lambda: lying(10),
        "cannot be unpacked: it is damaged (BadZipFile: Bad CRC-32 for file 'T1.py')",
    ),
    "says_huge": ("a.zip", lambda: lying(1 << 31), "`T1.py` in it has 2,147,483,648 bytes; at most 1,048,576 are read"),
    "many": (
        "a.zip",
        lambda: zip_of(*(Entry(f"{n}.py", b"") for n in range(1001))),
        "more than 1,000 files of Python; give the answers alone",
    ),
    "very_many": ("a.zip", lambda: b"PK\x01\x02" * 20_001, "more than 20,000 entries; pack the answers alone"),
    "much": (
        "a.zip",
        lambda: zip_of(*(Entry(f"{n}.py", bytes(1 << 20)) for n in range(65))),
        "more than 64 MiB of Python; give the answers alone",
    ),
    "no_zip": ("a.zip", lambda: b"PK", "cannot be unpacked: it is damaged (BadZipFile: File is not a zip file)"),
    "tar_climbs": ("a.tar", lambda: tar_of(Entry("../T1.py")), "`../T1.py` in it leads out of the archive"),
    "tar_absolute": ("a.tar", lambda: tar_of(Entry("/T1.py")), "`/T1.py` in it leads out of the archive"),
    "tar_link": (
        "a.tar",
        lambda: tar_of(Entry(tar_type=tarfile.SYMTYPE)),
        "`T1.py` in it is a link; pack plain files alone",
    ),
    "tar_hard_link": (
        "a.tgz",
        lambda: gzip.compress(tar_of(Entry(tar_type=tarfile.LNKTYPE))),
        "`T1.py` in it is a link; pack plain files alone",
    ),
    "tar_device": (
        "a.tar",
        lambda: tar_of(Entry(tar_type=tarfile.CHRTYPE)),
        "`T1.py` in it is a device; pack plain files alone",
    ),
    "tar_twice": ("a.tar", lambda: tar_of(Entry(), Entry()), "`T1.py` in it is there twice"),
    "tar_large": (
        "a.tar",
        lambda: tar_of(Entry(content=bytes((1 << 20) + 1))),
        "`T1.py` in it has 1,048,577 bytes; at most 1,048,576 are read",
    ),
    "tar_bomb": (
        "a.tar.gz",
        lambda: gzip.compress(tar_of(Entry("x", bytes(520 << 20))), 1),
        "more than 512 MiB when it is unpacked",
    ),
    "no_tar": ("a.tar", lambda: b"no tar", "cannot be unpacked: it is damaged (ReadError: "),
    "cut_off": (
        "a.tar.gz",
        lambda: gzip.compress(tar_of(Entry(content=os.urandom(9000))))[:-4000],
        "cannot be unpacked: it is damaged (EOFError: ",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive(tmp_path: Path, name: str) -> None:
    """An archive that leads out of itself, links, lies, hides or swells is refused in one line, and writes nothing."""
    file, make, why = HOSTILE[name]
    (tmp_path / file).write_bytes(make())
    with pytest.raises(UsageError) as raised:
        collected(tmp_path / file)
    assert str(raised.value).startswith(f"{tmp_path / file}: {why}")
    assert [each.name for each in tmp_path.iterdir()] == [file]


@_fuzz
@given(name=st.sampled_from(["a.zip", "a.tar", "a.tgz"]), data=st.data())
def test_any_archive_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """An archive with bytes changed and cut off is read or refused in one line, and nothing else."""
    entries = (Entry(), Entry("pkg/x.py", b"x = 1\n" * 50), Entry("b.txt"))
    whole = bytearray(zip_of(*entries) if name == "a.zip" else tar_of(*entries))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=6)):
        whole[at] = data.draw(st.integers(0, 255))
    kept = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    with contextlib.suppress(UsageError):
        files.unpack(Path(name), gzip.compress(kept) if name == "a.tgz" else kept)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["cells", "source", "metadata"]), inner)
    ),
)


@_fuzz
@given(st.lists(st.text(alphabet="%!?x=()'\"#\\\n .:é\ud800", max_size=60), min_size=1, max_size=4))
def test_any_cell_keeps_its_lines(cells: list[str]) -> None:
    """Whatever a cell holds, its lines are as many as they were, each is as it was or a comment, and Python stays."""
    code = extract(notebook(*cells))
    lines = code.source.decode("utf-8", "surrogatepass").split("\n")
    ends = [*(start - 2 for start, _ in code.cells[1:]), len(lines) - 1]
    for (start, number), end, cell in zip(code.cells, ends, cells, strict=True):
        if "skipped, not Python" in lines[start - 1]:
            assert (end - start, cell.strip()[:2]) == (0, "%%")
            continue
        assert lines[start - 1] == f"# cell {number}"
        before, after = cell.removesuffix("\n").split("\n"), lines[start:end]
        assert len(after) == len(before)
        for old, new in zip(before, after, strict=True):
            assert new in {old, f"# {old}"} or new == f"{old[: -len(old.lstrip())]}pass  # {old.strip()}"
        with contextlib.suppress(SyntaxError, ValueError), warnings.catch_warnings(action="ignore"):
            compile(cell, "cell", "exec")
            assert after == before


@_fuzz
@given(_json | st.fixed_dictionaries({"nbformat": st.integers(2, 5), "cells": _json, "worksheets": _json}))
def test_any_json_is_a_notebook_or_none(value: object) -> None:
    """Whatever JSON a notebook's file holds, it is read or refused in words."""
    with contextlib.suppress(NoNotebook):
        extract(json.dumps(value).encode())


def test_a_folder_of_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with more files than anyone hands in is refused before they are read; a link to a file is too."""
    write(tmp_path, {"T1.py": RIGHT, "b.txt": "", "c/d.py": ""})
    monkeypatch.setattr(files, "MAX_ENTRIES", 3)
    with pytest.raises(UsageError, match="more than 3 files; name the folder that has the answers"):
        collected(tmp_path)
    monkeypatch.undo()
    (tmp_path / "linked").symlink_to(tmp_path / "c")
    assert f"{tmp_path}/linked: not looked into: a symbolic link" in collected(tmp_path).notes
    (tmp_path / "double_it.py").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match=r"double_it\.py: is a symbolic link"):
        collected(tmp_path)
