"""The judge accounts for every check, whatever the grader, the user's settings or the user do; faults of the grader are
never the candidate's.

Most graders here are broken in one way each, and all are used in one session: none of them may disturb another.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from textwrap import dedent

import pytest
import torch

from proctorch.bank.bank import Bank
from proctorch.bank.question import Check, Limits, Need
from proctorch.devices import CPU
from proctorch.judge.grade import Grade, Outcome, Place, Verdict
from proctorch.judge.plan import Job, Plan
from proctorch.judge.session import Grading
from proctorch.judge.submission import Submission

PASSED, FAILED, ERROR, NOT_RUN = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.NOT_RUN
TINY = Path(__file__).parent / "bank"

RIGHT = "def double(x):\n    return 2 * x\n"
SCENARIOS = """
def doubled(candidate, device, probe, *, x=2):
    print("played", x)
    return candidate.double(x)
"""


def asked(
    *tests: str,
    needs: dict[str, str] | None = None,
    only: dict[str, tuple[str, ...]] | None = None,
    second: tuple[str, ...] = (),
) -> tuple[Check, ...]:
    """One check of one point for each test, whose title is the test's name in words."""
    return tuple(
        Check(
            test,
            test.removeprefix("test_").replace("_", " "),
            Fraction(1),
            device=Need.SECOND if test in second else Need.ANY,
            needs=(needs or {}).get(test),
            only=(only or {}).get(test, ()),
        )
        for test in tests
    )


@dataclass(frozen=True)
class Case:
    """A grader, and what is graded with it."""

    tests: str
    checks: tuple[Check, ...]
    scenarios: str = SCENARIOS
    submission: str = RIGHT
    seconds: float = 30.0


CASES = {
    # ---- graders that are broken
    "no_import": Case("import a_module_that_nobody_has\n\ndef test_a(): pass", asked("test_a")),
    "no_python": Case("def test_a(:\n", asked("test_a")),
    "type_error": Case(
        """
        def test_a(run):
            assert run("doubled").get() == 4

        def test_b(run):
            run("doubled").get() + "four"
        """,
        asked("test_a", "test_b"),
    ),
    "exits": Case("import sys\n\ndef test_a(): sys.exit(0)", asked("test_a")),
    "skips": Case("import pytest\n\ndef test_a(): pytest.skip('no time')", asked("test_a")),
    "marked_skip": Case("import pytest\n\n@pytest.mark.skip\ndef test_a(): pass", asked("test_a")),
    "may_fail": Case("import pytest\n\n@pytest.mark.xfail\ndef test_a(): assert False, 'it fails'", asked("test_a")),
    "never_collected": Case(
        "def test_a(): pass\n\ndef test_b(): pass\n\ntest_b.__test__ = False", asked("test_a", "test_b")
    ),
    "broken_fixture": Case(
        "import pytest\n\n@pytest.fixture\ndef x(): return {}['x']\n\ndef test_a(x): pass", asked("test_a")
    ),
    "broken_clean_up": Case(
        """
        import pytest

        @pytest.fixture
        def x():
            yield 1
            assert False, "cannot clean up"

        def test_a(x): pass
        """,
        asked("test_a"),
    ),
    "no_plain_input": Case("def test_a(run): run('doubled', x=object())", asked("test_a")),
    "no_scenario": Case("def test_a(run): run('tripled')", asked("test_a")),
    "no_such_input": Case("def test_a(run): run('doubled', y=2)", asked("test_a")),
    "scenario_breaks": Case(
        "def test_a(run): run('doubled')\n\ndef test_b(): pass",
        asked("test_a", "test_b"),
        scenarios="def doubled(candidate, device, probe):\n    x = 1 / 0\n    return candidate.double(x)\n",
    ),
    "scenarios_do_not_load": Case(
        "def test_a(run): run('doubled')\n\ndef test_b(run): run('doubled', x=3)",
        asked("test_a", "test_b"),
        scenarios="x = nonsense\n",
    ),
    # ---- graders that are in order
    "asks_for_nothing": Case("def test_a(): pass", asked("test_a")),
    "several_cases": Case(
        """
        import pytest

        @pytest.mark.parametrize("x", [1, 2, 3])
        def test_all_pass(run, x):
            assert run("doubled", x=x).get() == 2 * x

        @pytest.mark.parametrize("x", [1, 2, 3, 4])
        def test_some_fail(run, x):
            assert run("doubled", x=x).get() != 2 * x or x in (1, 4), f"fails for {x}"
        """,
        asked("test_all_pass", "test_some_fail"),
    ),
    "needs_a_failure": Case(
        """
        def test_first(): assert False, "no"
        def test_second(): pass
        def test_third(): pass
        """,
        asked(
            "test_first", "test_second", "test_third", needs={"test_second": "test_first", "test_third": "test_second"}
        ),
    ),
    "child_before_parent": Case(
        "def test_parent(): pass\n\ndef test_child(): pass",
        asked("test_child", "test_parent", needs={"test_child": "test_parent"}),
    ),
    "only_on_cuda": Case(
        "def test_here(): pass\n\ndef test_there(): assert False\n\ndef test_after(): assert False",
        asked(
            *("test_here", "test_there", "test_after"),
            only={"test_there": ("cuda", "xpu")},
            needs={"test_after": "test_there"},
        ),
    ),
    "only_elsewhere": Case("def test_a(): assert False", asked("test_a", only={"test_a": ("cuda",)})),
    "second_device": Case(
        "def test_a(): assert False\n\ndef test_b(): assert False",
        asked("test_a", "test_b", second=("test_a", "test_b")),
        submission="raise SystemExit('played')",
    ),
    "one_check_for_a_second_device": Case(
        "def test_a(): pass\n\ndef test_b(): assert False", asked("test_a", "test_b", second=("test_b",))
    ),
    # ---- messages
    "messages": Case(
        """
        from proctorch.judge.checks import close, fail, require

        def test_plain(run):
            assert run("doubled").get() == 77

        def test_empty_message(run):
            assert run("doubled").get() == 77, ""

        def test_two_lines(run):
            assert run("doubled").get() == 77, "it is not what was asked for\\nit should be 77"

        def test_bare(run):
            raise AssertionError

        def test_fail():
            fail("it is too small", line=2, detail="it should be 77")

        def test_require(run):
            require(run("doubled").get() == 77, "it is\\ntoo small")

        def test_close(run):
            close(run("doubled").number(), 77.0, "the number")

        def test_missing(run):
            run("doubled").number("size")
        """,
        asked(
            *("test_plain", "test_empty_message", "test_two_lines", "test_bare"),
            *("test_fail", "test_require", "test_close", "test_missing"),
        ),
    ),
    # ---- evidence
    "shared_evidence": Case(
        """
        def test_a(run): assert run("doubled", x=1).get() == 2
        def test_b(run): assert run("doubled", x=1).get() == 2
        def test_c(run): assert run("doubled", x=2).get() == 4
        def test_d(run): assert run("doubled", x=1).get() == 2
        """,
        asked("test_a", "test_b", "test_c", "test_d"),
    ),
    "two_deaths": Case(
        """
        def test_a(run): run("doubled", x=1)
        def test_b(run): assert run("doubled", x=2).get() == 4
        def test_c(run): run("doubled", x=3)
        """,
        asked("test_a", "test_b", "test_c"),
        submission="import os\n\ndef double(x):\n    if x != 2:\n        os.kill(os.getpid(), 9)\n    return 2 * x\n",
        scenarios=SCENARIOS.replace("x)\n", "x, flush=True)\n", 1),
    ),
    "three_hangs": Case(
        """
        def test_a(run): run("doubled", x=1)
        def test_b(run): run("doubled", x=2)
        def test_c(run): run("doubled", x=3)
        def test_d(run): run("doubled", x=1)
        """,
        asked("test_a", "test_b", "test_c", "test_d"),
        submission="def double(x):\n    while True: pass\n",
        seconds=0.5,
    ),
    "clean_state": Case(
        """
        def test_a(run): assert run("spoil").get() == "spoilt"

        def test_b(run):
            state = run("state").dict()
            assert state == {
                "dtype": "torch.float32",
                "device": "cpu",
                "gradients": True,
                "deterministic": False,
                "autocast": False,
                "here": True,
            }, str(state)
        """,
        asked("test_a", "test_b"),
        scenarios="""
        import os
        import torch

        home = os.getcwd()

        def spoil(candidate, device, probe):
            return candidate.double(2)

        def state(candidate, device, probe):
            return {
                "dtype": str(torch.get_default_dtype()),
                "device": str(torch.get_default_device()),
                "gradients": torch.is_grad_enabled(),
                "deterministic": torch.are_deterministic_algorithms_enabled(),
                "autocast": torch.is_autocast_enabled("cpu"),
                "here": os.getcwd() == home,
            }
        """,
        submission=dedent(
            """
            import os
            import torch

            def double(x):
                torch.set_default_dtype(torch.float64)
                torch.set_default_device("meta")
                torch.device("meta").__enter__()
                torch.set_grad_enabled(False)
                torch.use_deterministic_algorithms(True)
                torch.set_autocast_enabled("cpu", True)
                os.chdir("/")
                return "spoilt"
            """
        ),
    ),
    "threads": Case(
        """
        import torch

        def test_a():
            assert torch.get_num_threads() == 1
        """,
        asked("test_a"),
    ),
    "seeds": Case(
        """
        def test_a(run, seed): run("doubled", x=seed)
        def test_b(run, seed): run("doubled", x=seed)
        def test_c(run, shared_seed): run("doubled", x=shared_seed)
        def test_d(run, shared_seed): run("doubled", x=shared_seed)
        """,
        asked("test_a", "test_b", "test_c", "test_d"),
    ),
    "random_numbers": Case(
        """
        def test_a(run): assert run("drawn").list() == run("drawn", again=True).list(), "random"
        """,
        asked("test_a"),
        scenarios="""
        import random
        import torch

        def drawn(candidate, device, probe, *, again=False):
            candidate.double(1)
            return [torch.rand(3).tolist(), random.random()]
        """,
        submission="import random, torch\n\ndef double(x):\n    random.random()\n    torch.rand(5)\n",
    ),
}


def build(root: Path, *names: str) -> dict[str, Job]:
    """Writes the graders of the cases, by default all, into a bank at `root`, and plans a job for each."""
    tiny = Bank.load(TINY).questions[0]
    jobs = {}
    for name in names or CASES:
        case = CASES[name]
        question = replace(
            tiny,
            id=name,
            topic="cases",
            path=root / "questions" / "cases" / f"{name}.yaml",
            checks=case.checks,
            limits=Limits(seconds=case.seconds, memory=1 << 30),
        )
        question.grader.mkdir(parents=True)
        question.tests.write_text(dedent(case.tests), encoding="utf-8")
        question.scenarios.write_text(dedent(case.scenarios), encoding="utf-8")
        jobs[name] = Job(question, Submission(f"{name}.py", case.submission.encode()), CPU)
    return jobs


_UNWANTED = """
import pathlib
pathlib.Path(__file__).with_name("was_used").touch()

def pytest_collection_modifyitems(items):
    items.clear()
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bank")


@pytest.fixture(scope="module")
def grades(root: Path) -> dict[str, Grade]:
    """One session over all cases with the seed 5, amid the settings of somebody else's pytest."""
    jobs = build(root)
    (root / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\npython_functions = nothing\n")
    for folder in (root, root / "graders", root / "graders" / "cases" / "asks_for_nothing"):
        (folder / "conftest.py").write_text(_UNWANTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", "--collect-only -k nothing")
        patch.setenv("PYTEST_PLUGINS", "a_plugin_that_nobody_has")
        found = Grading(Plan(replace(Bank.load(TINY), root=root), tuple(jobs.values())), seed=5).run()
        assert os.environ["PYTEST_ADDOPTS"] == "--collect-only -k nothing"
        assert os.environ["PYTEST_PLUGINS"] == "a_plugin_that_nobody_has"
    return dict(zip(jobs, found, strict=True))


def outcomes(grade: Grade) -> list[Outcome]:
    return [check.outcome for check in grade.checks]


@pytest.mark.parametrize("made", ["to('meta')", 'ones(2, device="meta")'])
def test_what_the_meta_device_imports_late_is_imported_once(tmp_path: Path, made: str) -> None:
    """However scenarios name the meta device, no job imports torch's compiler, which takes more than a second."""
    job = build(tmp_path, "exits")["exits"]
    scenarios = "import sys\n\n\ndef there(candidate, device, probe):\n    return 'torch._dynamo' in sys.modules\n"
    job.question.scenarios.write_text(f"{scenarios}\n# {made}\n", encoding="utf-8")
    tests = "def test_a(run):\n    assert run('there').flag()\n"
    job.question.tests.write_text(tests, encoding="utf-8")
    (grade,) = Grading(Plan(replace(Bank.load(TINY), root=tmp_path), (job,))).run()
    assert grade.checks[0].outcome is PASSED


# ---------------------------------------------------------------------------------------------------- broken graders


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_import", "the check “a” broke: the grader cannot be loaded"),
        ("no_python", "the check “a” broke: the grader cannot be loaded"),
        ("type_error", "the check “b” broke: TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        ("exits", "the check “a” broke: SystemExit: 0"),
        ("skips", "the check “a” broke: a check may not skip itself; say `only:` in the question"),
        ("marked_skip", "the check “a” broke: the grader did not make it"),
        ("never_collected", "the check “b” broke: the grader did not make it"),
        ("broken_fixture", "the check “a” broke: KeyError: 'x'"),
        ("broken_clean_up", "the check “a” broke: AssertionError: cannot clean up assert False"),
        ("no_plain_input", "the check “a” broke: TypeError: object cannot be sent to the sandbox: not plain data"),
        ("no_scenario", "the check “a” broke: the scenario broke: LookupError: scenarios.py has no tripled"),
        (
            "no_such_input",
            "the check “a” broke: the scenario broke: TypeError: doubled() got an unexpected keyword argument 'y'",
        ),
        ("scenario_breaks", "the check “a” broke: the scenario broke: ZeroDivisionError: division by zero"),
        (
            "scenarios_do_not_load",
            "the check “a” broke: scenarios.py broke: NameError: name 'nonsense' is not defined",
        ),
    ],
)
def test_a_broken_grader_is_the_judges_fault(grades: dict[str, Grade], name: str, reason: str) -> None:
    """Whatever breaks in a grader, the verdict is JUDGE_ERROR, which scores nothing, and the reason says what broke."""
    grade = grades[name]
    assert grade.verdict is Verdict.JUDGE_ERROR
    assert grade.reason == reason
    assert not grade.scored


def test_a_broken_check_leaves_the_others_their_results(grades: dict[str, Grade]) -> None:
    """Only the check that broke is an error."""
    assert outcomes(grades["type_error"]) == [PASSED, ERROR]
    assert outcomes(grades["never_collected"]) == [PASSED, ERROR]
    assert outcomes(grades["scenario_breaks"]) == [ERROR, PASSED]


def test_scenarios_that_do_not_load_are_tried_once(grades: dict[str, Grade]) -> None:
    """After the first check has told that nothing can be played, the others are not made."""
    assert outcomes(grades["scenarios_do_not_load"]) == [ERROR, NOT_RUN]
    reason = "not run: scenarios.py broke: NameError: name 'nonsense' is not defined"
    assert grades["scenarios_do_not_load"].checks[1].reason == reason


def test_why_a_grader_does_not_load_is_in_the_detail(grades: dict[str, Grade]) -> None:
    """Its author is shown the error and its place."""
    assert "No module named 'a_module_that_nobody_has'" in grades["no_import"].checks[0].detail
    assert "def test_a(:" in grades["no_python"].checks[0].detail


def test_an_expected_failure_is_a_failure(grades: dict[str, Grade]) -> None:
    """Pytest's own marks do not turn a failed check into anything better."""
    assert outcomes(grades["may_fail"]) == [FAILED]
    assert grades["may_fail"].reason == "a: it fails"


# ---------------------------------------------------------------------------------------------------- accounting


def test_a_check_that_asks_for_nothing_is_made(grades: dict[str, Grade]) -> None:
    """A check without fixtures counts like any other."""
    assert grades["asks_for_nothing"].verdict is Verdict.ACCEPTED


def test_settings_of_another_pytest_have_no_say(grades: dict[str, Grade], root: Path) -> None:
    """Neither a conftest.py or pytest.ini beside or inside the bank nor the user's environment changes what is made."""
    assert outcomes(grades["asks_for_nothing"]) == [PASSED]
    assert list(root.rglob("was_used")) == []


def test_of_several_cases_the_worst_counts(grades: dict[str, Grade]) -> None:
    """A check with several cases passes if all do; the first that fails explains it."""
    grade = grades["several_cases"]
    assert outcomes(grade) == [PASSED, FAILED]
    assert grade.checks[1].reason == "fails for 2"


def test_a_chain_of_needs_ends_at_the_failure(grades: dict[str, Grade]) -> None:
    """A check whose need did not pass is not made, nor is one that needs that."""
    grade = grades["needs_a_failure"]
    assert outcomes(grade) == [FAILED, NOT_RUN, NOT_RUN]
    assert [check.reason for check in grade.checks[1:]] == ["not run: it needs “first”", "not run: it needs “second”"]
    assert grade.possible == 3
    assert grade.verdict is Verdict.WRONG_ANSWER


def test_a_need_may_be_listed_later(grades: dict[str, Grade]) -> None:
    """A check that is listed before the one that it needs is made after it."""
    assert outcomes(grades["child_before_parent"]) == [PASSED, PASSED]


def test_a_check_for_other_devices_is_not_counted(grades: dict[str, Grade]) -> None:
    """A check for other devices is outside the points, and with it one that needs it."""
    grade = grades["only_on_cuda"]
    assert outcomes(grade) == [PASSED, NOT_RUN, NOT_RUN]
    assert [check.counted for check in grade.checks] == [True, False, False]
    assert grade.checks[1].reason == "made only on cuda, xpu; this job runs on cpu"
    assert grade.verdict is Verdict.ACCEPTED
    assert grade.possible == 1


def test_a_job_without_a_counted_check_is_not_run(grades: dict[str, Grade]) -> None:
    """A job of which nothing can be asked on this device is not accepted."""
    grade = grades["only_elsewhere"]
    assert grade.verdict is Verdict.NOT_RUN
    assert grade.reason == "made only on cuda; this job runs on cpu"
    assert grade.possible == 0


def test_a_question_for_a_second_device_is_not_run_on_the_cpu(grades: dict[str, Grade]) -> None:
    """Without a second device the submission is not even loaded."""
    grade = grades["second_device"]
    assert grade.verdict is Verdict.NOT_RUN
    assert grade.reason == "needs a second device beside the CPU"
    assert outcomes(grade) == [NOT_RUN, NOT_RUN]
    assert grade.seconds == 0


def test_one_check_for_a_second_device_is_not_counted_on_the_cpu(grades: dict[str, Grade]) -> None:
    """A question of which only one check needs a second device is asked without it."""
    grade = grades["one_check_for_a_second_device"]
    assert outcomes(grade) == [PASSED, NOT_RUN]
    assert grade.checks[1].reason == "needs a second device beside the CPU"
    assert grade.verdict is Verdict.ACCEPTED
    assert grade.possible == 1


# ---------------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("test", "reason", "line"),
    [
        ("test_plain", "it is not as demanded", 1),
        ("test_empty_message", "it is not as demanded", 1),
        ("test_bare", "it is not as demanded", 1),
        ("test_two_lines", "it is not what was asked for", 1),
        ("test_fail", "it is too small", 2),
        ("test_require", "it is too small", 1),
        ("test_close", "the number is wrong (tolerance: 0 relative, 0 absolute)", 1),
        ("test_missing", "size is missing, not a number", 1),
    ],
)
def test_a_reason_shows_no_expected_value(grades: dict[str, Grade], test: str, reason: str, line: int) -> None:
    """The candidate sees what the author of a check wrote for them, in one line; a bare assert gives nothing away."""
    [check] = [each for each in grades["messages"].checks if each.test == test]
    assert check.outcome is FAILED
    assert check.reason == reason
    assert check.place == Place(line, "double")


@pytest.mark.parametrize("test", ["test_plain", "test_two_lines", "test_fail", "test_close"])
def test_the_detail_shows_all(grades: dict[str, Grade], test: str) -> None:
    """The interviewer sees the expected value."""
    [check] = [each for each in grades["messages"].checks if each.test == test]
    assert "77" in check.detail


# ---------------------------------------------------------------------------------------------------- evidence


def test_equal_plays_are_played_once(grades: dict[str, Grade]) -> None:
    """Checks that ask for the same scenario with the same inputs share what was seen."""
    assert grades["shared_evidence"].verdict is Verdict.ACCEPTED
    assert grades["shared_evidence"].stdout.text == "played 1\nplayed 2\n"


def test_after_a_death_the_job_goes_on(grades: dict[str, Grade]) -> None:
    """A death in one scenario costs its own check; the next is played in a new process, and all output is kept."""
    grade = grades["two_deaths"]
    assert outcomes(grade) == [FAILED, PASSED, FAILED]
    assert grade.verdict is Verdict.RUNTIME_ERROR
    assert grade.earned == 1
    assert grade.stdout.text == "played 1\nplayed 2\nplayed 3\n"


def test_after_two_time_outs_no_more_is_played(grades: dict[str, Grade]) -> None:
    """A submission that hangs again and again does not cost its time limit for every check."""
    grade = grades["three_hangs"]
    assert outcomes(grade) == [FAILED, FAILED, NOT_RUN, FAILED]
    assert grade.checks[2].reason == "not run: the code had been stopped 2 times for taking too long"
    assert grade.verdict is Verdict.TIME_LIMIT


def test_each_scenario_begins_in_a_clean_state(grades: dict[str, Grade]) -> None:
    """What the code changed of torch's global state in one scenario is put back before the next."""
    assert [check.reason for check in grades["clean_state"].checks] == ["", ""]


def test_each_scenario_has_its_own_random_numbers(grades: dict[str, Grade]) -> None:
    """Random numbers do not depend on what was drawn in an earlier scenario."""
    assert grades["random_numbers"].verdict is Verdict.ACCEPTED


def seeds(grade: Grade) -> list[int]:
    """The seeds that were played, in order."""
    return [int(line.removeprefix("played ")) for line in grade.stdout.text.splitlines()]


def test_seeds_differ_from_check_to_check(grades: dict[str, Grade]) -> None:
    """Each check has a seed of its own, the shared one is played once for all, and the run's seed fixes them."""
    assert seeds(grades["seeds"]) == [1_509_295_542, 353_309_319, 316_791_859]


def test_another_seed_changes_all(root: Path, grades: dict[str, Grade]) -> None:
    """Without a seed the hidden inputs are others in each run; the one that was drawn repeats the run."""
    job = build(root / "again", "seeds")["seeds"]
    plan = Plan(Bank.load(TINY), (job,))
    drawn = Grading(plan)
    [first] = drawn.run()
    [second] = Grading(plan, seed=drawn.seed).run()
    assert seeds(first) == seeds(second)
    assert set(seeds(first)).isdisjoint(seeds(grades["seeds"]))


@pytest.mark.parametrize(
    ("source", "imported"),
    [("torch.optim.SGD", "True"), ("from torch.utils.checkpoint import checkpoint", "True"), ("import torch", "False")],
)
def test_a_late_import_is_made_once_for_all_jobs(tmp_path: Path, source: str, imported: str) -> None:
    """What optimizers and checkpoints import at their first use is there before the jobs, if a source names one."""
    job = build(tmp_path, "seeds")["seeds"]
    text = f"# {source}\nimport sys\nprint('torch._dynamo' in sys.modules)\n{RIGHT}"
    [grade] = Grading(Plan(Bank.load(TINY), (replace(job, submission=Submission("late.py", text.encode())),))).run()
    assert grade.stdout.text.splitlines()[0] == imported


def test_checks_compute_in_one_thread(root: Path) -> None:
    """While checks are made torch has one thread, on a machine of any size, and afterwards as many as before."""
    job = build(root / "threads", "threads")["threads"]
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        [grade] = Grading(Plan(Bank.load(TINY), (job,))).run()
        assert outcomes(grade) == [PASSED]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


# -------------------------------------------------------------------------------------------- a command is stopped


@dataclass(frozen=True)
class Command:
    """A `proctorch grade` that runs a right answer and then hangs in the next, which has left a daemon behind."""

    process: "subprocess.Popen[bytes]"
    results: Path
    #: Of the hanging job, of the daemon and of the fork server: readable once it has ended.
    others: list[int]

    def all_ended(self, seconds: float) -> bool:
        """Whether all of them end, within this time."""
        return all(select.select([other], [], [], seconds)[0] for other in self.others)


_HANG = """
import os
import time

def double(x):
    daemon = os.fork()
    if daemon == 0:
        os.setsid()
        time.sleep(900)
    with open({told!r}, "w") as told:
        print(os.getpid(), daemon, os.getppid(), file=told)
    time.sleep(900)
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """The command, stopped in the second of three jobs."""
    results = tmp_path / "results.json"
    open_to_all = tempfile.TemporaryDirectory()  # root's jobs run as another user
    told = Path(open_to_all.name, "told")
    os.mkfifo(told)
    for path, mode in ((told, 0o666), (told.parent, 0o755)):
        path.chmod(mode)
    files = [tmp_path / name for name in ("one.py", "two.py", "three.py")]
    for file in files:
        file.write_text(RIGHT if file.stem == "one" else _HANG.format(told=str(told)))
    arguments = ["grade", "--bank", str(TINY), "--question", "T1", "--device", "cpu", "-o", str(results)]
    arguments += ["--tier", "process", "--trust-submissions"]  # the others let no submission tell where it is
    arguments += map(str, files)
    # A shell that runs the tests in the background has them, and this with them, ignore Ctrl-C.
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{heed}; from proctorch.cli import main; sys.exit(main())"
    reader = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path)},  # nobody is left to clear it up after a kill
    )
    others: list[int] = []
    try:
        assert select.select([reader], [], [], 60)[0]
        others += [os.pidfd_open(int(other)) for other in os.read(reader, 1000).split()]
        yield Command(process, results, others)
    finally:
        process.kill()
        process.communicate()
        for other in others:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(other, signal.SIGKILL)
        for descriptor in (reader, *others):
            os.close(descriptor)
        open_to_all.cleanup()


def test_ctrl_c_keeps_what_is_graded(command: Command) -> None:
    """After Ctrl-C the exit code is 130, the report has the grades that were finished, and no process is left."""
    command.process.send_signal(signal.SIGINT)
    _, errors = command.process.communicate(timeout=30)
    assert command.process.returncode == 130
    assert errors.decode().endswith("interrupted after 1 of 3 jobs\n")
    assert command.all_ended(0)
    report = json.loads(command.results.read_text(encoding="utf-8"))
    assert [Path(grade["submission"]).name for grade in report["grades"]] == ["one.py"]


def test_a_killed_command_leaves_no_process(command: Command) -> None:
    """If the command is killed without a word, the fork server, the job and what the job has started end too."""
    command.process.kill()
    command.process.wait(30)
    assert command.all_ended(30)


_JUDGE = """
import os, sys, threading, time
from proctorch.bank.question import Limits
from proctorch.judge.grade import Tier
from proctorch.judge.sandbox import Sandbox

def descendants(process):
    for task in os.listdir(f"/proc/{process}/task"):
        for child in map(int, open(f"/proc/{process}/task/{task}/children").read().split()):
            yield child
            yield from descendants(child)

sandbox = Sandbox(strongest=Tier(sys.argv[1]), virtual=True)
jobs = [sandbox.start(Limits()), sandbox.start(Limits(), virtual=(1 << 20,))]
print(*descendants(os.getpid()), flush=True)
time.sleep(900)
"""


@pytest.mark.parametrize("tier", ["full", "kernel", "process"])
def test_nothing_outlives_a_killed_judge(tier: str) -> None:
    """In every tier, with a job on each fork server, a judge that is killed without a word leaves no process."""
    with subprocess.Popen([sys.executable, "-c", _JUDGE, tier], stdout=subprocess.PIPE) as judge:
        assert judge.stdout
        others = [os.pidfd_open(int(other)) for other in judge.stdout.readline().split()]
        judge.kill()
    assert len(others) == {"full": 5, "kernel": 4, "process": 4}[tier]
    assert [select.select([other], [], [], 30)[0] for other in others] == [[other] for other in others]
    for other in others:
        os.close(other)
