"""The command as its three kinds of users meet it: what it prints, what it writes, and how it ends."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from proctorch import cli
from tests.running import Run

BANK = Path(__file__).parent / "bank"
SOLUTIONS = BANK / "solutions" / "tiny" / "double-it"


def answer(text: str, name: str = "double_it.py") -> Path:
    """A submission in the current folder."""
    path = Path(name)
    path.write_text(text)
    return path


RIGHT = "def double(x):\n    return x + x\n"
PATCHES = (
    "import torch\nimport gc\n\ntorch.foo = 1\ntorch.bar = 2\n\n\ndef double(x):\n    gc.get_objects()\n    open('x')\n"
)
WRONG = "def double(x):\n    return x * x\n"


def test_list(run: Run) -> None:
    """The list shows code, id, title, topic, minutes and points."""
    done = run("list")
    assert done.code == 0
    header, row = done.out.splitlines()
    assert header.split() == ["code", "id", "title", "topic", "level", "min", "points", "device"]
    assert " ".join(row.split()) == "T1 double-it Double a tensor where it is tiny ●○○○○ 3 3.5 any"


def test_list_as_json(run: Run) -> None:
    """A script reads the list as JSON."""
    [question] = json.loads(run("list", "--json").out)
    assert question["id"] == "double-it"
    assert question["points"] == "3.5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--topic", "amp"], "no question has the topic `amp`"),
        (["--difficulty", "9"], "Invalid value for '--difficulty': 9 is not in the range 1<=x<=5."),
        (["--bank", "nowhere"], "no questions/ folder in nowhere; a bank is a folder with questions/"),
    ],
)
def test_list_refuses(run: Run, arguments: list[str], message: str) -> None:
    """A filter that nothing can fit and a folder that is no bank are one clear line and exit code 2."""
    done = run("list", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_show(run: Run) -> None:
    """A question is shown with its task, what is checked, its starter and its time, and without its tests."""
    done = run("show", "t1")
    assert done.code == 0
    for text in ("T1 · Double a tensor where it is", "3 minutes", "every element is doubled", "def double(x):"):
        assert text in done.out
    assert "test_" not in done.out


def test_unknown_question(run: Run) -> None:
    """An unknown id is answered with the nearest one."""
    done = run("show", "doble-it")
    assert (done.code, done.err) == (2, "no question `doble-it` in the bank; did you mean `double-it`?\n")


def test_start_and_grade(run: Run) -> None:
    """The starter is written, says which question it is, and is graded without naming the question."""
    assert run("start", "double-it").code == 0
    assert Path("double_it.py").read_text().startswith("# proctorch: double-it\n")
    done = run("grade", "double_it.py")
    assert done.code == 1
    assert "WRONG ANSWER" in done.out or "PARTIAL" in done.out


def test_start_never_overwrites(run: Run) -> None:
    """What a candidate has written is not overwritten, unless they say so."""
    mine = answer("my work")
    done = run("start", "double-it")
    assert (done.code, done.err) == (2, "double_it.py is there already; --force overwrites it\n")
    assert mine.read_text() == "my work"
    assert run("start", "double-it", "--force").code == 0
    assert "def double" in mine.read_text()


def test_new(run: Run) -> None:
    """The files of a new question are written and named; its author is told what is left to do, and nothing is lost."""
    done = run("new", "placement/born-there", "--bank", "mine")
    assert done.code == 0
    assert done.out.splitlines()[0] == "mine/questions/placement/born-there.yaml"
    assert done.out.splitlines()[-1] == "  proctorch verify born-there --bank mine"
    left = run("verify", "born-there", "--bank", "mine", "--device", "cpu", "--processes", "1")
    assert left.code == 1
    assert left.out.splitlines()[1].split()[-1] == "none"
    assert left.out.splitlines()[2] == (
        "mine/questions/placement/born-there.yaml:2:9: to do: name the exercise, in a few words"
    )
    again = run("new", "placement/born-there", "--bank", "mine")
    assert (again.code, again.err) == (
        2,
        "mine/questions/placement/born-there.yaml: is there already; nothing was written\n",
    )


def test_new_wants_a_bank(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --bank this folder must be one."""
    monkeypatch.delenv("PROCTORCH_BANK")
    done = run("new", "placement/born-there")
    assert (done.code, done.err) == (
        2,
        "this folder is no bank: it has no questions/; give one, or a new folder, with --bank DIR\n",
    )
    Path("questions").mkdir()
    assert run("new", "placement/born-there").code == 0
    assert Path("graders/placement/born-there/test_born_there.py").is_file()


def test_start_in_a_new_folder(run: Run) -> None:
    """The folder for the starter is made."""
    assert run("start", "double-it", "a/b").code == 0
    assert Path("a/b/double_it.py").is_file()


def test_grade_accepted(run: Run) -> None:
    """A right answer is accepted, with exit code 0."""
    done = run("grade", answer(RIGHT), "--device", "cpu")
    assert done.code == 0
    assert "cpu: ACCEPTED  3.5 / 3.5 points" in done.out


def test_grade_tells_the_line(run: Run) -> None:
    """A failure is told with the candidate's file and line, and with no expected value."""
    done = run("grade", answer("def double(x):\n    return helper(x)\n\n\ndef helper(x):\n    return x.shape[9]\n"))
    assert done.code == 1
    assert "double_it.py:6: every element is doubled: IndexError: tuple index out of range" in done.out


def test_grade_several(run: Run) -> None:
    """Several files are graded in one command; one that is wrong makes exit code 1."""
    done = run("grade", answer(RIGHT, "one.py"), answer(WRONG, "two words.py"), "--question", "T1", "--device", "cpu")
    assert done.code == 1
    assert "2 graded: 1 partial, 1 accepted" in done.out


def test_grade_as_json(run: Run) -> None:
    """A script reads the grades as a report that keeps to the published schema."""
    done = run("grade", answer(RIGHT), "--json", "--device", "cpu")
    report = json.loads(done.out)
    assert [grade["verdict"] for grade in report["grades"]] == ["accepted"]
    jsonschema.validate(report, json.loads(run("schema", "--report").out))


def test_grade_writes_both_views(run: Run) -> None:
    """The JSON is the whole record and the HTML the candidate's view; the interviewer's is rendered from the record."""
    run("grade", answer(WRONG), "-o", "results.json", "-o", "feedback.html", "--seed", "7")
    assert "test_values" in Path("results.json").read_text()
    assert "test_values" not in Path("feedback.html").read_text()
    assert run("report", "results.json", "--html", "--for", "interviewer").code == 0
    assert "test_values" in Path("results.html").read_text()
    assert run("report", "results.json", "-o", "theirs.json").code == 0
    assert "test_values" not in Path("theirs.json").read_text()
    assert json.loads(Path("theirs.json").read_text())["environment"]["seed"] is None
    assert "PARTIAL" in run("report", "results.json").out


def test_the_interviewers_view_needs_the_record(run: Run) -> None:
    """What was taken out for the candidate cannot be asked back."""
    run("grade", answer(WRONG), "-o", "results.json", "--for", "candidate")
    done = run("report", "results.json", "-o", "full.html", "--for", "interviewer")
    assert done.code == 2
    assert "the interviewer's needs the whole report" in done.err
    assert not Path("full.html").exists()


def test_report_never_overwrites_its_source(run: Run) -> None:
    """A record is not replaced by a view of itself."""
    run("grade", answer(WRONG), "-o", "results.json")
    before = Path("results.json").read_bytes()
    assert run("report", "results.json", "-o", "results.json").code == 2
    assert Path("results.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.py"], "nope.py: no such file; give a file of Python source"),
        (["other.py"], "other.py: which question does it answer?"),
        (["other.py", "--question", "T9"], "no question `T9` in the bank"),
        (["other.py", "--question", "T1", "--device", "cuda:9"], "no device 'cuda:9' here; this machine has cpu"),
        (
            ["other.py", "--question", "T1", "--device", "gpu"],
            "no device 'gpu' here (device types are cpu, cuda, mps, xpu, virtual)",
        ),
        (["other.py", "--question", "T1", "-o", "report.pdf"], "report.pdf: a report is written as .html or .json"),
        (["other.py", "--question", "T1", "-o", "no/folder/r.json"], "no/folder/r.json: cannot be written"),
        (["notebook.ipynb"], "notebook.ipynb: which question does it answer?"),
        (["big.py"], "big.py: 1,048,577 bytes; at most 1,048,576 are read; give a file of Python source"),
        (["empty"], "empty: no answers in it; looked for .py and .ipynb files that name a question in their name"),
        (["damaged.zip"], "damaged.zip: cannot be unpacked: it is damaged"),
        (["answers.rar"], "answers.rar: pack it as one of .zip, .tar, .tar.gz, .tgz"),
    ],
)
def test_grade_refuses(run: Run, arguments: list[str], message: str) -> None:
    """What cannot be graded is one clear line and exit code 2."""
    answer(RIGHT, "other.py")
    answer("{}", "notebook.ipynb")
    answer(" " * ((1 << 20) + 1), "big.py")
    Path("empty").mkdir()
    answer("PK", "damaged.zip")
    answer("Rar!", "answers.rar")
    done = run("grade", *arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_grade_a_folder(run: Run) -> None:
    """Of a folder each file that names its question is graded; the others are said to be ignored."""
    Path("answers").mkdir()
    answer("from tools import twice as double\n", "answers/T1.py")
    answer("def twice(x):\n    return x + x\n", "answers/tools.py")
    answer("x = 1\n", "answers/scratch\x1b[31m.py")
    done = run("grade", "answers", "--device", "cpu")
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "answers/T1.py · Double a tensor where it is (double-it)",
        "  with its helper file tools.py",
    ]
    assert done.err == "answers/scratch␛[31m.py: ignored: names no question\n"


def test_grade_a_notebook(run: Run) -> None:
    """What was skipped of a notebook is said, and a failure names the cell and its line."""
    cells = [{"cell_type": "code", "source": each} for each in ("%matplotlib inline", "def double(x):\n    return y")]
    answer(json.dumps({"nbformat": 4, "cells": cells}), "double_it.ipynb")
    done = run("grade", "double_it.ipynb", "--device", "cpu")
    assert done.code == 1
    assert "  cell 1: `%matplotlib inline` skipped\n" in done.out
    assert "  double_it.ipynb, cell 2, line 2: every element is doubled: NameError: name 'y' is not defined" in done.out


def test_a_hostile_name_and_text_stay_text(run: Run) -> None:
    """Escape sequences and markup in a submission's name or message reach the terminal as visible text."""
    name = "[red]\x1b[31m.py"
    done = run(
        "grade", answer('def double(x):\n    raise ValueError("\\x1b]0;title\\x07[bold]")\n', name), "--question", "T1"
    )
    assert "\x1b" not in done.out
    assert "[red]␛[31m.py:2" in done.out
    assert "[bold]" in done.out


def test_verify(run: Run) -> None:
    """A bank whose graders are proven is told so in a table, with exit code 0."""
    done = run("verify")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == ["double-it", "cpu", "2", "5", "11", "1", "0", "none"]


def test_doctor(run: Run) -> None:
    """The doctor names torch, the devices, real or not, and the limits that are really held."""
    done = run("doctor")
    assert done.code == 0
    for text in ("torch", "cpu: the processor (real)", "256 open files", "1 questions"):
        assert text in done.out


def test_doctor_as_json(run: Run) -> None:
    """Facts of one name are told together: none is lost."""
    facts = json.loads(run("doctor", "--json").out)["facts"]
    assert facts["proctorch"] == ["0.1.0"]
    assert {"256 open files", "file size 64 MiB"} <= set(facts["limit"])


def test_doctor_finds_a_faulty_bank(run: Run) -> None:
    """A bank with faults is a problem that the doctor names."""
    done = run("doctor", "--bank", Path(__file__).parent / "bad_bank" / "whole")
    assert done.code == 3
    assert "the bank has faults" in done.err


def test_schema(run: Run) -> None:
    """The schema of a question is a JSON schema."""
    jsonschema.Draft202012Validator.check_schema(json.loads(run("schema").out))


@pytest.mark.parametrize(
    "command", [[], ["list"], ["show"], ["start"], ["new"], ["grade"], ["report"], ["verify"], ["doctor"], ["schema"]]
)
def test_help(run: Run, command: list[str]) -> None:
    """Every command explains itself on -h."""
    done = run(*command, "-h")
    assert done.code == 0
    assert "Usage: proctorch" in done.out


def test_unknown_command(run: Run) -> None:
    """A command that is not there is answered with one line."""
    done = run("lits")
    assert done.code == 2
    assert "No such command 'lits'" in done.err


def test_a_bug_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours is one line and exit code 3, and says how to see more."""
    monkeypatch.setattr("proctorch.bank.bank.Bank.load", lambda *_, **__: 1 / 0)
    done = run("list")
    assert done.code == 3
    assert done.err.startswith("proctorch: a bug in Proctorch: ZeroDivisionError: division by zero\n")


def test_a_page_that_cannot_be_written(run: Run) -> None:
    """Where a page is to go is looked at before the work, and what prevents it is told in a line."""
    for arguments in (["verify", "--mutants", "--write", "no/proof.md"], ["list", "--write", "no/questions.md"]):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"{arguments[-1]}: cannot be written: ")


def test_every_command_is_in_the_readme() -> None:
    """The README shows every command."""
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for name in cli.cli.commands:
        assert f"proctorch {name}" in readme


def test_plain_where_nobody_looks_on(tmp_path: Path) -> None:
    """Into a pipe go no colours, whole lines, and a reader that stops early is no error."""
    command = [str(Path(sys.executable).with_name("proctorch")), "list", "--bank", str(BANK)]
    piped = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    assert b"\x1b" not in piped.stdout
    pipe, write = os.pipe()
    os.close(pipe)
    with os.fdopen(write, "wb") as closed:
        broken = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False, cwd=tmp_path)
    assert broken.stderr == b""


def test_grade_names_what_deserves_a_look(run: Run) -> None:
    """Three lines that deserve a look are named, and how many more there are; a plain answer has no such line."""
    done = run("grade", answer(PATCHES), "--device", "cpu")
    assert (
        "  deserves a look: line 4 assigns into `torch.foo`; line 5 assigns into `torch.bar`; line 9 uses"
        " `gc.get_objects`; and 1 more in the interviewer's report\n"
    ) in done.out
    assert "deserves a look" not in run("grade", answer(RIGHT), "--device", "cpu").out


def test_sets(run: Run, tmp_path: Path) -> None:
    """A set is listed, shown, and stands for its questions where ids stand; a command for one question names them."""
    bank = Path(shutil.copytree(BANK, tmp_path / "bank"))
    (bank / "questions" / "sets").mkdir()
    (bank / "questions" / "sets" / "quick.yaml").write_text(
        "schema: 1\ntitle: A quick one\npurpose: said for the test\nquestions: [double-it]\nminutes: 3\npoints: 3.5\n"
    )
    assert " ".join(run("list", "--sets", "--bank", bank).out.split()).endswith("quick A quick one 1 3 3.5")
    [told] = json.loads(run("list", "--sets", "--json", "--bank", bank).out)
    assert told == json.loads(run("show", "quick", "--json", "--bank", bank).out)
    assert (told["questions"], told["minutes"], told["points"]) == (["double-it"], 3, "3.5")
    assert "said for the test" in run("show", "quick", "--bank", bank).out
    assert [each["id"] for each in json.loads(run("list", "quick", "--json", "--bank", bank).out)] == ["double-it"]
    assert run("start", "quick", "mine", "--bank", bank).code == 0
    assert Path("mine/double_it.py").is_file()
    done = run("grade", "mine", "--question", "quick", "--bank", bank)
    assert (done.code, done.err) == (2, "`quick` is a set; name one of its questions: double-it\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--write", "x.md"], "--write: it writes the table of --mutants; give both\n"),
        (["--times", "3"], "--times: it says how often --stress grades; give both\n"),
        (["--stress", "--mutants"], "--stress: it is one way to verify, and --mutants is another; give one\n"),
        (["--stress", "--seed", "3"], "--seed: it repeats a plain `verify`; leave the others out\n"),
    ],
)
def test_verify_refuses(run: Run, arguments: list[str], message: str) -> None:
    """Options that do not go together are one clear line and exit code 2."""
    done = run("verify", *arguments)
    assert (done.code, done.err) == (2, message)


def test_verify_stress_as_json(run: Run) -> None:
    """A script reads each play of each shipped solution, with the seed that repeats it."""
    done = run("verify", "--stress", "--times", "2", "--json", "--device", "cpu", "--processes", "1")
    plays = json.loads(done.out)
    assert done.code == 0
    assert [each["trial"] for each in plays[:2]] == ["accepted/add.py"] * 2
    assert (len({each["seed"] for each in plays}), len(plays)) == (2, 14)
    assert {each["problem"] for each in plays} == {""}


def test_verify_mutants(run: Run) -> None:
    """The table of mutants has a row for each question; a grader that kills them all makes exit code 0."""
    done = run("verify", "--mutants", "--device", "cpu", "--processes", "1")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == ["double-it", "6", "6", "0", "0", "100.0%", "none"]
    assert done.out.splitlines()[2].split() == ["all", "6", "6", "0", "0", "100.0%", "none"]


def test_verify_mutants_as_json(run: Run, tmp_path: Path) -> None:
    """A script reads what survived, and why that is not good enough; the page of proofs can be written beside it."""
    bank = Path(shutil.copytree(BANK, tmp_path / "bank"))
    grader = bank / "graders" / "tiny" / "double-it" / "test_double_it.py"
    grader.write_text(grader.read_text().replace('close(seen.tensor("result"', '(seen.tensor("result"'))
    arguments = ["--mutants", "--json", "--write", "proof.md", "--device", "cpu", "--processes", "1"]
    done = run("verify", *arguments, "--bank", bank)
    told, of_all = json.loads(done.out)
    assert done.code == 1
    assert {key: told[key] for key in ("question", "mutants", "killed", "equivalent", "rate")} == {
        "question": "double-it",
        "mutants": 6,
        "killed": 3,
        "equivalent": 0,
        "rate": 0.5,
    }
    assert {"place": "accepted/multiply.py:5", "mutant": "return x * 2 → return x * 3"} in told["survivors"]
    assert told["problems"] == ["kills 50.0% of its mutants; at least 97% are wanted"]
    assert of_all == {
        "question": None,
        "mutants": 6,
        "killed": 3,
        "equivalent": 0,
        "rate": 0.5,
        "problems": ["all questions together kill 50.0% of their mutants; at least 99% are wanted"],
    }
    assert "| double-it | 2 | 6 | 3 | 0 | 3 | 50.0% |" in Path("proof.md").read_text()
