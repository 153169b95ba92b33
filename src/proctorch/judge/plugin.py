"""The pytest plugin: the fixtures that hidden checks are written with, and the account of every check.

- `run(scenario, **inputs)` plays a scenario in the sandbox and returns its Evidence; it fails the check if the
  candidate's code did not let the scenario end well. Equal calls within a job are played once.
- `device`: the Device of the job; `device.torch` is its name in torch.
- `budget`: the bytes of the accelerator that the question allows, or None.
- `seed`: an int that differs from check to check and from run to run.
- `shared_seed`: an int that is the same for all checks of a job, so that they can share evidence.
"""

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Protocol

import pytest

from proctorch.bank.question import Check
from proctorch.devices import Device
from proctorch.errors import ProctorchError
from proctorch.judge.checks import CheckFailure
from proctorch.judge.evidence import Ended, Evidence
from proctorch.judge.grade import CheckResult, Outcome, Place
from proctorch.judge.plan import mix_seed
from proctorch.judge.play import NotPlayed, Play, not_run
from proctorch.judge.sandbox import Unavailable
from proctorch.judge.testimony import shorten

_PLAY = "proctorch_play"


class Run(Protocol):
    """The type of the `run` fixture."""

    def __call__(self, scenario: str, /, **inputs: Any) -> Evidence: ...


class _EndedBadly(CheckFailure):
    """The candidate's code did not let a scenario end well."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__(evidence.reason, detail=evidence.detail)
        self.place = evidence.place


@pytest.fixture
def proctorch_play(request: pytest.FixtureRequest) -> Play:
    """The job that a check is made for; given by the judge."""
    play: Play = request.param
    return play


@pytest.fixture
def run(proctorch_play: Play) -> Run:
    """Plays a scenario in the sandbox."""

    def run(scenario: str, /, **inputs: Any) -> Evidence:
        evidence = proctorch_play.evidence(scenario, inputs)
        if evidence.ended is not Ended.ANSWERED:
            raise _EndedBadly(evidence)
        return evidence

    return run


@pytest.fixture
def device(proctorch_play: Play) -> Device:
    """The device of the job."""
    return proctorch_play.job.device


@pytest.fixture
def budget(proctorch_play: Play) -> int | None:
    """The bytes of the accelerator that the question allows, None if it sets no budget."""
    return proctorch_play.job.question.budget


@pytest.fixture
def seed(request: pytest.FixtureRequest, proctorch_play: Play) -> int:
    """Mixed of the question, the check and the run's secret."""
    return mix_seed(proctorch_play.secret, proctorch_play.job.question.id, _test_name(request.node))


@pytest.fixture
def shared_seed(proctorch_play: Play) -> int:
    """Mixed of the question and the run's secret."""
    return mix_seed(proctorch_play.secret, proctorch_play.job.question.id, "shared")


class Judge:
    """Makes the checks of each play, in the question's order, and hands the play over when its last check is done.

    Without `details`, a failed check has its message and no traceback: to print one costs as much as many a check.
    """

    def __init__(
        self, plays: Callable[[Path], list[Play]], finished: Callable[[Play], None], *, details: bool = True
    ) -> None:
        self._plays = plays
        self._finished = finished
        self._details = details
        self._uncollected: dict[Path, str] = {}
        self.internal_error = ""

    def broken_grader(self, tests: Path) -> str:
        """Why a grader's file could not be collected, or an empty text."""
        return self._uncollected.get(tests, "")

    @pytest.hookimpl
    def pytest_configure(self, config: pytest.Config) -> None:
        if not self._details:
            config.option.tbstyle = "no"

    @pytest.hookimpl
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        plays = self._plays(metafunc.definition.path)
        if plays:
            if _PLAY not in metafunc.fixturenames:  # a check that asks for nothing is still made once for each job
                metafunc.fixturenames.append(_PLAY)
            names = [f"{play.job.submission.path.name}-{play.job.device}" for play in plays]
            metafunc.parametrize(_PLAY, plays, ids=names, indirect=True)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Job by job, and within a job a check after the one that it needs."""
        jobs: dict[int, int] = {}
        for item in items:
            if play := _play(item):
                jobs.setdefault(id(play), len(jobs))

        def place(item: pytest.Item) -> tuple[int, int]:
            play, check = _play(item), _check(item)
            if play is None or check is None:
                return len(jobs), 0
            return jobs[id(play)], _order(play).index(check.test)

        first = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
        items.sort(key=lambda item: (first[item.path], *place(item)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """With one thread of torch's: what checks compute is small, and on a busy machine threads wait for each other.

        Tenths of a second for each backward pass, where one thread takes a millisecond.
        """
        torch = sys.modules.get("torch")  # imported by the graders that compute
        if torch is None:
            return (yield)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return (yield)
        finally:
            torch.set_num_threads(threads)

    @pytest.hookimpl
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        play, check = _play(item), _check(item)
        if play is None or check is None:
            return
        if reason := play.job.not_asked(check):
            self._not_run(play, check, reason, counted=False)
        if check.needs and play.outcome(check.needs) is not Outcome.PASSED:
            parent = next(each for each in play.job.question.checks if each.test == check.needs)
            self._not_run(play, check, f"not run: it needs “{parent.title}”", counted=play.counts(check.needs))

    def _not_run(self, play: Play, check: Check, reason: str, *, counted: bool) -> None:
        play.record(check, not_run(check, reason, counted=counted))
        raise pytest.skip.Exception(reason, _use_item_location=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        play, check = _play(item), _check(item)
        if play is not None and check is not None:
            self._account(play, check, call, report)
        return report

    def _account(self, play: Play, check: Check, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        error = call.excinfo.value if call.excinfo else None
        if error is None:
            if call.when == "call":
                play.record(check, CheckResult(check.test, check.title, check.points, Outcome.PASSED))
            return
        if isinstance(error, Unavailable):
            play.record(check, not_run(check, str(error), counted=False))
            report.longrepr = str(error)
            return
        if isinstance(error, NotPlayed):
            play.record(check, not_run(check, str(error), counted=True))
            report.longrepr = str(error)  # by hand it is a failure: a run of nothing must not look green
            return
        if isinstance(error, pytest.skip.Exception) and call.when == "setup":
            return  # recorded where it was decided
        if isinstance(error, AssertionError) and call.when == "call":
            reason, place = _explain(error, play)
            outcome = Outcome.FAILED
        else:
            reason, place, outcome = _author_error(error), None, Outcome.ERROR
        detail = report.longreprtext or str(error)
        result = CheckResult(
            check.test, check.title, check.points, outcome, reason=reason, place=place, detail=detail[-20_000:]
        )
        play.record(check, result)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        result = yield
        play = _play(item)
        if play is not None and (nextitem is None or _play(nextitem) is not play):
            self._finished(play)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.failed:
            self._uncollected[collector.path.resolve()] = report.longreprtext
        return report

    @pytest.hookimpl
    def pytest_internalerror(self, excrepr: object) -> bool:
        self.internal_error = str(excrepr)
        return True  # it is told once, by whoever asked for the grades


def _play(item: pytest.Item) -> Play | None:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get(_PLAY) if callspec else None


def _check(item: pytest.Item) -> Check | None:
    play = _play(item)
    if play is None:
        return None
    return next((each for each in play.job.question.checks if each.test == _test_name(item)), None)


def _test_name(item: Any) -> str:
    return str(getattr(item, "originalname", None) or item.name)


def _order(play: Play) -> list[str]:
    """The checks' tests as the question lists them, but each after the one that it needs."""
    checks = {check.test: check for check in play.job.question.checks}
    ordered: list[str] = []

    def add(test: str) -> None:
        if test not in ordered:
            if needs := checks[test].needs:
                add(needs)
            ordered.append(test)

    for test in checks:
        add(test)
    return ordered


def _explain(error: AssertionError, play: Play) -> tuple[str, Place | None]:
    """The candidate's line for a failed check: the first line of its message, if its author gave one."""
    if isinstance(error, _EndedBadly):
        return error.reason, error.place or play.place_of(None)
    if isinstance(error, CheckFailure):
        return shorten(error.reason), play.place_of(error.line)
    text = str(error).strip()
    if not text or text.startswith("assert "):  # pytest's own words show expected values
        return "it is not as demanded", play.place_of(None)
    return shorten(text.splitlines()[0]), play.place_of(None)


def _author_error(error: BaseException) -> str:
    if isinstance(error, pytest.skip.Exception):
        return "a check may not skip itself; say `only:` in the question"
    if isinstance(error, ProctorchError):
        return shorten(str(error).splitlines()[0])
    return shorten(f"{type(error).__name__}: {error}")
