"""Verify finds what is wrong with a grader or a solution; on a bank in order it finds nothing."""

import re
import shutil
from pathlib import Path

import pytest

from proctorch.bank.bank import Bank
from proctorch.devices import CPU, VIRTUAL
from proctorch.errors import ProctorchError, UsageError
from proctorch.verify import verify as proof
from proctorch.verify.self_check import unproven_self_checks
from proctorch.verify.verify import Kind

TINY = Path(__file__).parent / "bank"
GRADER = "graders/tiny/double-it/test_double_it.py"
SOLUTIONS = "solutions/tiny/double-it"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A copy of the tiny bank, to be spoilt."""
    return Path(shutil.copytree(TINY, tmp_path / "bank"))


def problems(root: Path, *names: str) -> list[str]:
    """What verify says about the trials named, or about all, and about checks without proof."""
    loaded = Bank.load(root)
    trials = [each for each in proof.plan_trials(loaded.questions, [CPU]) if not names or each.name in names]
    findings = proof.verify(loaded, trials, processes=1)
    said = [f"{finding.trial.name} {finding.problem}" for finding in findings if finding.problem]
    return said + [each.problem for each in proof.unproven(findings) if not names]


def test_the_tiny_bank_is_proven() -> None:
    """Every solution of the tiny bank gets its verdict, and nothing else passes."""
    loaded = Bank.load(TINY)
    findings = proof.verify(loaded, proof.plan_trials(loaded.questions, [CPU]), processes=1)
    assert [finding.problem for finding in findings] == [""] * 20
    assert proof.unproven(findings) == []
    kinds = [finding.trial.kind for finding in findings]
    assert [kinds.count(kind) for kind in Kind] == [7, 1, 10, 1, 1]


def test_several_processes(bank: Path) -> None:
    """Shared among processes, the findings are the same and in the same order, and each is told as it is done."""
    (bank / SOLUTIONS / "accepted" / "add.py").write_text("def double(x):\n    return None\n")
    loaded = Bank.load(bank)
    trials = proof.plan_trials(loaded.questions, [CPU])
    told: list[str] = []
    alone = proof.verify(loaded, trials, processes=1)
    shared = proof.verify(loaded, trials, processes=3, on_trial=told.append)
    assert [(each.trial, each.problem) for each in shared] == [(each.trial, each.problem) for each in alone]
    assert sorted(told) == sorted(trial.job.submission.path.name for trial in trials)


def test_a_process_that_breaks(bank: Path) -> None:
    """What breaks in one of the processes is told, and ends the others."""
    trials = proof.plan_trials(Bank.load(bank).questions, [CPU])
    (bank / GRADER).unlink()
    (bank / GRADER).with_name("scenarios.py").unlink()
    with pytest.raises(ProctorchError, match=r"submissions could not be played: FileNotFoundError: .*scenarios\.py"):
        proof.verify(Bank(bank, ()), trials, processes=2)


def test_stress(bank: Path) -> None:
    """Each solution is graded in so many rounds, each with a seed of its own; what differs once is told with it.

    The seed repeats it.
    """
    path = bank / SOLUTIONS / "accepted" / "add.py"
    path.write_text("def double(x):\n    return x * 3 if float(x.sum()) > 9 else x + x\n")
    loaded = Bank.load(bank)
    trials = proof.plan_stress(loaded.questions, [CPU], 20)
    assert (len(trials), len({trial.job.seed for trial in trials})) == (7 * 20, 20)
    findings = proof.verify(loaded, [trial for trial in trials if trial.name == "accepted/add.py"], processes=1)
    found = [finding for finding in findings if finding.problem]
    assert 0 < len(found) < len(findings) == 20
    assert found[0].problem.startswith("is partial (every element is doubled: the result is wrong")
    seeded = proof.plan_trials(loaded.questions, [CPU], found[0].trial.job.seed)
    [again] = proof.verify(loaded, [trial for trial in seeded if trial.name == "accepted/add.py"], processes=1)
    assert again.problem == found[0].problem


def test_stress_asks_each_round_for_what_a_check_catches_alone(bank: Path) -> None:
    """A check that is the only one to catch something by chance alone is told, with how often and with a seed."""
    path = bank / SOLUTIONS / "partial" / "wider.py"
    path.write_text(
        path.read_text()
        + "\n\nwider = double\n\n\ndef double(x):\n    y = wider(x)\n    x += x.sum() > 9\n    return y\n"
    )
    loaded = Bank.load(bank)
    trials = [each for each in proof.plan_stress(loaded.questions, [CPU], 20) if each.name.startswith("partial/")]
    findings = proof.verify(loaded, trials, processes=1)
    assert [finding.problem for finding in findings if finding.problem] == []
    [told] = proof.unproven(findings)
    assert told.problem.startswith("no wrong solution is caught by test_place alone (the nearest, ")
    often = re.search(r" \((\d+) of 20 rounds; seed \d+\)$", told.problem)
    assert often
    assert 0 < int(often[1]) < 20


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "tolist() == [2.0, -4.0]",
            "tolist() == [2.0, 4.0]",
            "the self_check does not pass on accepted/add.py: test_doubled: AssertionError in line 6",
        ),
        (
            "double(torch.tensor([1.0, -2.0])).tolist() == [2.0, -4.0]",
            "double(torch.tensor([0.0])).tolist() == [0.0]",
            "the self_check passes on the starter; try in it what the starter does not do",
        ),
        (
            "import torch\n\n\n  def",
            "import torch, os\n\n\n  os._exit(3)\n\n\n  def",
            "the self_check does not pass on accepted/add.py: it ended its process, or took longer than a minute",
        ),
    ],
)
def test_a_self_check_without_proof(bank: Path, old: str, new: str, told: str) -> None:
    """What a candidate is given to try must pass on right answers, and not on the starter."""
    path = bank / "questions" / "tiny" / "double-it.yaml"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    assert [each.problem for each in unproven_self_checks(Bank.load(bank).questions)][:1] == [told]


def test_a_question_without_a_self_check(bank: Path) -> None:
    """It is told, since a candidate would have nothing to try."""
    path = bank / "questions" / "tiny" / "double-it.yaml"
    text = path.read_text()
    path.write_text(text[: text.index("self_check:")])
    [told] = unproven_self_checks(Bank.load(bank).questions)
    assert told.problem == "there is no self_check; try in one what the prompt shows"


def test_the_default_bank_is_proven() -> None:
    """On the CPU and on the virtual accelerator, the default bank accepts what is right and rejects what is wrong.

    What is wrong is rejected by the check that it names, every check rejects something that no other one does, and no
    tolerance is so wide that numbers in bfloat16 pass for float32's.
    """
    loaded = Bank.load()
    findings = proof.verify(loaded, proof.plan_trials(loaded.questions, [CPU, VIRTUAL]))
    assert [f"{finding.trial.name}: {finding.problem}" for finding in findings if finding.problem] == []
    assert [f"{each.question.id}: {each.problem}" for each in proof.unproven(findings)] == []


def test_the_self_checks_of_the_default_bank() -> None:
    """Each question has one, which passes on each right answer and not on the starter."""
    found = unproven_self_checks(Bank.load(parse_graders=False).questions)
    assert [f"{each.question.id}: {each.problem}" for each in found] == []


def test_a_grader_that_cannot_be_loaded(bank: Path) -> None:
    """Its own trials are told so; those of the question after it keep their verdicts."""
    for folder in ("questions/tiny", "graders/tiny", "solutions/tiny"):
        for path in (bank / folder).glob("double-it*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, path.with_name(path.name.replace("it", "at")))
    second = bank / "questions/tiny/double-at.yaml"
    second.write_text(second.read_text().replace("code: T1", "code: T2"))
    broken = bank / "graders/tiny/double-at/test_double_it.py"
    broken.rename(broken.with_name("test_double_at.py")).write_text(
        "import no_such_module\n" + (bank / GRADER).read_text()
    )
    loaded = Bank.load(bank)
    findings = proof.verify(loaded, proof.plan_trials(loaded.questions, [CPU]), processes=1)
    assert {finding.problem != "" for finding in findings if finding.trial.job.question.id == "double-at"} == {True}
    assert [finding.problem for finding in findings if finding.trial.job.question.id == "double-it"] == [""] * 20


def test_a_wrong_solution_that_passes(bank: Path) -> None:
    """A right answer among the wrong ones is found."""
    (bank / SOLUTIONS / "partial" / "in_place.py").write_text(
        "# caught-by: test_new_tensor\ndef double(x):\n    return x + x\n"
    )
    assert problems(bank, "partial/in_place.py") == ["partial/in_place.py is accepted, not partial"]


def test_a_right_solution_that_fails(bank: Path) -> None:
    """A wrong answer among the right ones is found, with the reason."""
    (bank / SOLUTIONS / "accepted" / "add.py").write_text("def double(x):\n    return None\n")
    [problem] = problems(bank, "accepted/add.py")
    assert problem.startswith("accepted/add.py is wrong_answer (every element is doubled: the result is None")


def test_no_traceback_is_printed(bank: Path) -> None:
    """A failed check keeps its message alone: nobody reads a traceback here, and to print it takes long."""
    loaded = Bank.load(bank)
    trials = [each for each in proof.plan_trials(loaded.questions, [CPU]) if each.name == "partial/in_place.py"]
    [finding] = proof.verify(loaded, trials, processes=1)
    detail = next(each.detail for each in finding.grade.checks if each.test == "test_new_tensor")
    assert "CheckFailure: the given tensor is wrong in 6 of 6 values" in detail
    assert "def test_new_tensor" not in detail


def test_a_check_that_does_not_catch(bank: Path) -> None:
    """A wrong solution must fail the check that it names, not just any."""
    path = bank / SOLUTIONS / "partial" / "in_place.py"
    path.write_text(path.read_text().replace("caught-by: test_new_tensor", "caught-by: test_place"))
    assert "partial/in_place.py is not caught by test_place" in problems(bank, "partial/in_place.py")


def test_a_check_that_rejects_nothing(bank: Path) -> None:
    """A check that no wrong solution is caught by is unproven."""
    (bank / SOLUTIONS / "partial" / "in_place.py").unlink()
    assert problems(bank)[0] == (
        "no wrong solution is caught by test_new_tensor alone; write one that every other check lets pass, or drop the"
        " check"
    )


def test_a_check_that_rejects_nothing_alone(bank: Path) -> None:
    """A check that only rejects what another one rejects is unproven; the nearest solution is named.

    A check that was not made, since the one that it needs failed, is not another one that rejects.
    """
    (bank / SOLUTIONS / "partial" / "wider.py").unlink()
    [problem] = problems(bank)
    assert problem == (
        "no wrong solution is caught by test_place alone (the nearest, runtime_error/no_operator.py on cpu, is caught"
        " by test_values too); write one that every other check lets pass, or drop the check"
    )


TOLERANT = 'x.double() * 2, "the result", rtol=0.01, atol=0.0'
TOO_WIDE = (
    "test_values passes on cpu with each number wrong by 0.2%, as in bfloat16; make its tolerance tighter, or say with"
    " `low_precision:`, beside its title, why such numbers are right"
)


def test_a_tolerance_that_is_too_wide(bank: Path) -> None:
    """A check that takes bfloat16's numbers for float32's is found, unless it says why."""
    path = bank / GRADER
    path.write_text(path.read_text().replace('x.double() * 2, "the result"', TOLERANT))
    assert problems(bank) == [TOO_WIDE]
    question = bank / "questions/tiny/double-it.yaml"
    said = "title: every element is doubled\n    low_precision: said for the test\n"
    question.write_text(question.read_text().replace("title: every element is doubled\n", said))
    assert problems(bank) == []


def test_a_lax_grader_lets_junk_pass(bank: Path) -> None:
    """A grader whose checks demand nothing accepts junk, and is found by it."""
    lax = "def test_values(run): pass\ndef test_new_tensor(run): pass\ndef test_place(run): pass\n"
    (bank / GRADER).write_text(lax)
    assert "junk/zeros is accepted (every check passed)" in problems(bank, "junk/zeros")
    assert "starter is accepted (every check passed)" in problems(bank, "starter")


def test_a_grader_that_crashes_on_junk(bank: Path) -> None:
    """A check that breaks on an odd value is the grader's fault, and is found."""
    path = bank / GRADER
    fragile = "def test_values(run):\n    import torch\n    run('doubled', x=torch.ones(2)).value['result'].tensor\n"
    path.write_text(fragile + "def test_new_tensor(run): pass\ndef test_place(run): pass\n")
    [problem] = problems(bank, "junk/returns-none")
    assert problem.startswith(
        "junk/returns-none is judge_error (the check “every element is doubled” broke: AttributeError"
    )


def test_a_starter_that_does_not_run(bank: Path) -> None:
    """A starter without the entry point is found."""
    path = bank / "questions" / "tiny" / "double-it.yaml"
    path.write_text(path.read_text().replace("def double(x):", "def duble(x):"))
    [problem] = problems(bank, "starter")
    assert problem == "starter does not run: it has no function `double`; found: duble (line 1)"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", ":1:1: say which check must catch it, in a line `# caught-by: test_…`"),
        ("# why\n# caught-by: test_nothing\n", ":2:1: the question has no check test_nothing"),
    ],
)
def test_a_wrong_solution_names_its_catcher(bank: Path, header: str, message: str) -> None:
    """A wrong solution that names no check, or one that is not there, is told with its place."""
    path = bank / SOLUTIONS / "partial" / "in_place.py"
    path.write_text(f"{header}def double(x):\n    return x.mul_(2)\n")
    with pytest.raises(UsageError, match=r"in_place\.py") as error:
        problems(bank)
    assert str(error.value).endswith(message)
