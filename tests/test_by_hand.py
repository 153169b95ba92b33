"""A grader can be run by hand, as the plain pytest file that it is, while it is written."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TINY = Path(__file__).parent / "bank"
GRADER = "bank/graders/tiny/double-it/test_double_it.py"
_FILES = {
    "right.py": "def double(x):\n    return 2 * x\n",
    "wrong.py": "def double(x):\n    return 3 * x\n",
    "broken.py": "def double(x:\n",
    "test_of_others.py": """
import sys

def test_nothing_of_proctorch_is_here(pytestconfig):
    assert not pytestconfig.pluginmanager.has_plugin("proctorch-judge")
    assert "torch" not in sys.modules
    loaded = {name for name in sys.modules if name.startswith("proctorch.")}
    options = {"proctorch.judge", "proctorch.judge.by_hand", "proctorch.virtual", "proctorch.virtual.pytest_plugin"}
    assert loaded == options
""",
}
_COMMANDS = {
    "right": [GRADER, "--submission", "right.py", "--device", "cpu"],
    "wrong": [GRADER, "--submission", "wrong.py", "--seed", "5"],
    "broken": [GRADER, "--submission", "broken.py"],
    "missing": [GRADER, "--submission", "nowhere.py"],
    "elsewhere": [GRADER, "--submission", "right.py", "--device", "tpu"],
    "others": ["test_of_others.py"],
    "others_with_a_submission": ["test_of_others.py", "--submission", "right.py", "-k", "no_such_test"],
}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """What pytest counts in its last line."""
        return self.out.splitlines()[-1].partition(" in ")[0].strip("= ")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """How each command ended; they run side by side."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(TINY, folder / "bank", ignore=shutil.ignore_patterns(".pytest_cache", "__pycache__"))
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    started = {
        name: subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pytest",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:hypothesispytest",
                "--color=no",
                *arguments,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        for name, arguments in _COMMANDS.items()
    }
    told = {name: process.communicate(timeout=120) for name, process in started.items()}
    return {name: Done(process.returncode, *told[name]) for name, process in started.items()}


def test_a_right_answer_passes(done: dict[str, Done]) -> None:
    """Each check is a passing test."""
    assert done["right"].code == 0
    assert done["right"].last == "3 passed"


def test_a_wrong_answer_fails(done: dict[str, Done]) -> None:
    """A failing check is a failing test, with all that its author wants to see; what needs it is skipped."""
    wrong = done["wrong"]
    assert wrong.code == 1
    assert wrong.last == "1 failed, 1 passed, 1 skipped"
    assert "the result is wrong in 6 of 6 values (tolerance: 1.3e-06 relative, 1e-05 absolute)" in wrong.out
    assert "Greatest absolute difference: " in wrong.out


def test_a_file_that_is_no_submission_fails(done: dict[str, Done]) -> None:
    """If nothing could be played, the run is not green."""
    assert done["broken"].code == 1
    assert done["broken"].last == "2 failed, 1 skipped"
    assert "not run: it is not valid Python: '(' was never closed" in done["broken"].out


def test_a_missing_file_is_told(done: dict[str, Done]) -> None:
    """A file that is not there is a fault of the command line, told in one line."""
    assert done["missing"].code == 4
    assert done["missing"].err.strip() == "ERROR: nowhere.py: no such file; give a file of Python source or a notebook"


def test_a_missing_device_is_told(done: dict[str, Done]) -> None:
    """A device that is not here is a fault of the command line, told with what is here."""
    assert done["elsewhere"].code == 4
    assert done["elsewhere"].err.startswith(
        "ERROR: no device 'tpu' here (device types are cpu, cuda, mps, xpu, virtual); this"
    )


def test_without_a_submission_the_plugin_is_inert(done: dict[str, Done]) -> None:
    """In other people's test runs nothing is loaded but the options, not even torch."""
    assert done["others"].last == "1 passed"
    assert done["others"].code == 0


def test_tests_that_are_no_graders_are_left_alone(done: dict[str, Done]) -> None:
    """Files that lie in no bank are no graders, even beside a submission."""
    assert done["others_with_a_submission"].code == 5
    assert done["others_with_a_submission"].last == "1 deselected"
