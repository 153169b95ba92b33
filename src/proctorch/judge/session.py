"""Grades a plan: one pytest session over all its graders, one fork server under it."""

import contextlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctorch.errors import ProctorchError
from proctorch.judge import plugin
from proctorch.judge.grade import CheckResult, Grade, Outcome
from proctorch.judge.plan import Job, Plan
from proctorch.judge.play import Play, not_run
from proctorch.judge.supervise import Sandbox, SandboxBroken

#: The first optimizer that a process makes, or its first operation on the meta device, imports most of this, which
#: takes as long as torch itself: once for all jobs, then, and only if a job looks as if it will.
_LATE_IMPORT = "torch._dynamo"
_LATE_IMPORTERS = (b"optim", b'device("meta")')
_MAX_UNFIT = 3
_UNWANTED = (
    *("terminal", "cacheprovider", "faulthandler", "warnings", "logging", "junitxml", "stepwise", "pastebin"),
    *("doctest", "unittest", "setuponly", "setupplan", "nose", "legacypath", "unraisableexception", "threadexception"),
)
#: Nothing of pytest's that reads the user's settings, writes files or prints.
_PYTEST = (
    *("--disable-plugin-autoload", "--noconftest", "--import-mode=importlib", "--continue-on-collection-errors", "-s"),
    *("-c", os.devnull),
    *(f"-pno:{name}" for name in _UNWANTED),
)


class Sandboxes:
    """The fork server of a session: started at once, and started anew if it breaks."""

    def __init__(self, jobs: tuple[Job, ...]) -> None:
        sources = {job.submission.source for job in jobs} | {job.question.scenarios.read_bytes() for job in jobs}
        sources |= {content for job in jobs for _, content in job.submission.helpers}
        late = any(word in source for source in sources for word in _LATE_IMPORTERS)
        self._preload = (_LATE_IMPORT,) if late else ()
        self._virtual = any(job.device.type == "virtual" for job in jobs)
        self._unfit = 0
        self._current = Sandbox(self._preload, virtual=self._virtual)

    def get(self) -> Sandbox:
        """One that works, as far as is known. SandboxBroken if several in a row were never fit for work."""
        if self._current.broken:
            self._unfit = 0 if self._current.ready else self._unfit + 1
            if self._unfit >= _MAX_UNFIT:
                raise SandboxBroken(f"the sandbox process did not start, tried {_MAX_UNFIT} times")
            self._current.close()
            self._current = Sandbox(self._preload, virtual=self._virtual)
        return self._current

    def close(self) -> None:
        """Ends everything that runs in the sandbox."""
        self._current.close()


class Grading:
    """The grades of a plan, as they come. `limits` are those that the jobs were really held to."""

    def __init__(self, plan: Plan, seed: int | None = None) -> None:
        self._plan = plan
        #: The secret that every hidden input is derived from; give it again to repeat a run.
        self.seed = secrets.randbits(53) if seed is None else seed
        self.limits: tuple[str, ...] = ()

    def run(self, on_grade: Callable[[Grade], None] = lambda _: None) -> list[Grade]:
        """Grades every job, in the plan's order, and calls `on_grade` after each.

        A job that cannot be graded has the verdict NOT_RUN or JUDGE_ERROR: there is a grade for each. KeyboardInterrupt
        passes through, with everything that was started ended.
        """
        graded: dict[int, Grade] = {}

        def finish(play: Play) -> None:
            self.limits = play.limits or self.limits
            grade = graded[id(play)] = play.grade()
            on_grade(grade)

        jobs = self._plan.jobs
        playable = [job for job in jobs if not job.skipped]
        sandboxes = Sandboxes(tuple(playable)) if playable else None
        plays = [Play(job, sandboxes.get if sandboxes else _no_sandbox, self.seed) for job in jobs]
        try:
            if sandboxes:
                broken = self._judge([play for play in plays if not play.job.skipped], finish)
            for play in plays:
                if id(play) not in graded:
                    _account_unplayed(play, "" if play.job.skipped else broken(play.job.question.tests))
                    finish(play)
        finally:
            for play in plays:
                with contextlib.suppress(ProctorchError):
                    play.close()
            if sandboxes:
                sandboxes.close()
        return [graded[id(play)] for play in plays]

    def _judge(self, plays: list[Play], finish: Callable[[Play], None]) -> Callable[[Path], str]:
        """Makes all checks of all plays. Returns what tells why a grader could not be used."""
        by_tests: dict[Path, list[Play]] = {}
        for play in plays:
            by_tests.setdefault(play.job.question.tests.resolve(), []).append(play)
        judge = plugin.Judge(lambda path: by_tests.get(path.resolve(), []), finish)
        arguments = [*_PYTEST, f"--rootdir={self._plan.bank.root}", *map(str, by_tests)]
        try:
            with _no_pytest_environment():
                code = pytest.main(arguments, plugins=[plugin, judge])
        finally:
            _forget_modules(set(map(str, by_tests)))
        if code == pytest.ExitCode.INTERRUPTED and not judge.internal_error:
            raise KeyboardInterrupt
        if code == pytest.ExitCode.INTERNAL_ERROR or judge.internal_error:
            raise ProctorchError(f"the judge broke:\n{judge.internal_error}")
        return judge.broken_grader


def grade(plan: Plan, *, seed: int | None = None) -> list[Grade]:
    """Grades every job of the plan; one grade each, in order. `seed` repeats an earlier run."""
    return Grading(plan, seed).run()


def _account_unplayed(play: Play, broken: str) -> None:
    """Results for a job that no check was made for: no such device, or a grader that cannot be loaded."""
    for check in play.job.question.checks:
        if reason := play.job.not_asked(check):
            play.record(check, not_run(check, reason, counted=False))
        else:
            reason = "the grader cannot be loaded"
            error = CheckResult(check.test, check.title, check.points, Outcome.ERROR, reason=reason, detail=broken)
            play.record(check, error)


def _no_sandbox() -> Sandbox:
    raise SandboxBroken("nothing was to be played")


def _forget_modules(files: set[str]) -> None:
    """Pytest names a grader's module by its path within the bank, so that another bank's would be taken for it."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in files:
            del sys.modules[name]


@contextlib.contextmanager
def _no_pytest_environment() -> Iterator[None]:
    """Hides the user's own pytest settings, which could skip checks or load plugins into the judge."""
    hidden = {name: os.environ.pop(name) for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS") if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)
