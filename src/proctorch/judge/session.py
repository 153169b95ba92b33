"""Grades a plan: one pytest session over all its graders, one fork server under it."""

import contextlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctorch.devices import cuda_nodes
from proctorch.errors import ProctorchError, UsageError
from proctorch.judge import canary, plugin
from proctorch.judge.channel import SandboxBroken
from proctorch.judge.grade import CheckResult, Grade, Outcome, Tier
from proctorch.judge.plan import Job, Plan
from proctorch.judge.play import Play, not_run
from proctorch.judge.sandbox import Sandbox, Strength

#: The first optimizer that a process makes, its first checkpoint of activations, or its first operation on the meta
#: device, imports most of this, which takes as long as torch itself: once for all jobs, then, and only if a job looks
#: as if it will.
_LATE_IMPORT = "torch._dynamo"
_LATE_IMPORTERS = (b"optim", b"utils.checkpoint", b'"meta"', b"'meta'")
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
    """The fork server of a session: started at once, and started anew if it breaks.

    No job may see the `bank`. `strongest` is the tier that is tried first.
    """

    def __init__(self, jobs: list[Job], bank: Path, strongest: Tier) -> None:
        sources = {job.submission.source for job in jobs} | {job.question.scenarios.read_bytes() for job in jobs}
        sources |= {content for job in jobs for _, content in job.submission.helpers}
        late = any(word in source for source in sources for word in _LATE_IMPORTERS)
        self._preload = (_LATE_IMPORT,) if late else ()
        self._devices = tuple(dict.fromkeys(job.device for job in jobs))
        self._bank = bank
        self._strongest = strongest
        self._unfit = 0
        self._current = self._new()

    @property
    def strength(self) -> Strength:
        """How jobs are confined here."""
        return self._current.strength

    def get(self) -> Sandbox:
        """One that works, as far as is known. SandboxBroken if several in a row were never fit for work."""
        if self._current.broken:
            self._unfit = 0 if self._current.ready else self._unfit + 1
            if self._unfit >= _MAX_UNFIT:
                raise SandboxBroken(f"the sandbox process did not start, tried {_MAX_UNFIT} times")
            self._current.close()
            self._current = self._new()
        return self._current

    def in_order(self) -> bool:
        """Whether the fork server still does what it should: a job whose answer is known is played."""
        return not self._current.broken and all(canary.in_order(self._current, each) for each in self._devices)

    def _new(self) -> Sandbox:
        return Sandbox(
            self._preload,
            virtual=any(not device.real for device in self._devices),
            hidden=[self._bank / name for name in ("questions", "graders", "solutions")],
            devices=cuda_nodes() if any(device.real_accelerator for device in self._devices) else (),
            strongest=self._strongest,
        )

    def close(self) -> None:
        """Ends everything that runs in the sandbox."""
        self._current.close()


class Grading:
    """The grades of a plan, as they come.

    Where files and network cannot be kept from a submission (tier `process`), nothing is graded unless
    `trust_submissions` says that whoever wrote them is trusted. `strongest`: no stronger tier than this. Without
    `details`, a failed check has no traceback, which nobody may want to read, and grading is faster.
    """

    def __init__(
        self,
        plan: Plan,
        seed: int | None = None,
        *,
        trust_submissions: bool = False,
        strongest: Tier = Tier.FULL,
        details: bool = True,
    ) -> None:
        self._plan = plan
        self._trust = trust_submissions
        self._strongest = strongest
        self._details = details
        #: The secret that every hidden input is derived from; give it again to repeat a run.
        self.seed = secrets.randbits(53) if seed is None else seed
        #: The limits that the jobs were really held to, in words.
        self.limits: tuple[str, ...] = ()
        #: How the jobs were confined; None if none was played.
        self.strength: Strength | None = None

    def run(self, on_grade: Callable[[Grade], None] = lambda _: None) -> list[Grade]:
        """Grades every job, in the plan's order, and calls `on_grade` after each.

        A job that cannot be graded has the verdict NOT_RUN or JUDGE_ERROR: there is a grade for each. One during which
        the sandbox broke is graded again, once; so is, and is told again, what was graded since a fork server that is
        out of order at the end was last known to be in order. KeyboardInterrupt passes through, with everything that
        was started ended. UsageError if strangers' code cannot be confined here and is not trusted.
        """
        rounds = _Rounds(on_grade)
        jobs = self._plan.jobs
        playable = [job for job in jobs if not job.skipped]
        for job in jobs:
            if job.skipped:
                play = self._play(job, _no_sandbox)
                _account_unplayed(play, "")
                rounds.finish(play)
        if playable:
            with contextlib.closing(Sandboxes(playable, self._plan.bank.root, self._strongest)) as sandboxes:
                self._demand_trust(sandboxes)
                self._judge(playable, sandboxes, rounds.finish)
                if again := rounds.to_repeat(in_order=sandboxes.in_order()):
                    self._judge(again, sandboxes, rounds.finish)
        return [rounds.grades[id(job)] for job in jobs]

    def _play(self, job: Job, sandbox: Callable[[], Sandbox]) -> Play:
        return Play(job, sandbox, self.seed if job.seed is None else job.seed)

    def _demand_trust(self, sandboxes: Sandboxes) -> None:
        self.strength = sandboxes.strength
        if self.strength.tier is Tier.PROCESS and not self._trust:
            lacks = "; ".join(f"{name}: {why}" for name, why in self.strength.missing.items()) or "as it was asked to"
            raise UsageError(
                "a submission could read your files and use the network: this machine cannot confine it"
                f" ({lacks}). If you wrote the submissions yourself, or trust who did, say --trust-submissions."
                " Strangers' code is graded on Linux; on macOS and Windows, in a Linux virtual machine (such as WSL 2)."
            )

    def _judge(self, jobs: list[Job], sandboxes: Sandboxes, finish: Callable[[Play], None]) -> None:
        """Makes all checks of all jobs, and calls `finish` with each when it is done."""
        plays = [self._play(job, sandboxes.get) for job in jobs]
        by_tests: dict[Path, list[Play]] = {}
        for play in plays:
            by_tests.setdefault(play.job.question.tests.resolve(), []).append(play)
        left = {id(play): play for play in plays}

        def finished(play: Play) -> None:
            del left[id(play)]
            self.limits = play.limits or self.limits
            finish(play)

        judge = plugin.Judge(lambda path: by_tests.get(path.resolve(), []), finished, details=self._details)
        arguments = [*_PYTEST, f"--rootdir={self._plan.bank.root}", *map(str, by_tests)]
        try:
            with _no_pytest_environment():
                code = pytest.main(arguments, plugins=[plugin, judge])
            if code == pytest.ExitCode.INTERRUPTED and not judge.internal_error:
                raise KeyboardInterrupt
            if code == pytest.ExitCode.INTERNAL_ERROR or judge.internal_error:
                raise ProctorchError(f"the judge broke:\n{judge.internal_error}")
            for play in list(left.values()):
                _account_unplayed(play, judge.broken_grader(play.job.question.tests.resolve()))
                finished(play)
        finally:
            _forget_modules(set(map(str, by_tests)))
            for play in plays:
                with contextlib.suppress(ProctorchError):
                    play.close()


class _Rounds:
    """The grades so far, and the jobs that must be played again since the sandbox broke under them."""

    def __init__(self, on_grade: Callable[[Grade], None]) -> None:
        self._on_grade = on_grade
        #: By the identity of the job.
        self.grades: dict[int, Grade] = {}
        self._wounded: list[Job] = []
        #: Since the fork server was last known to be in order.
        self._doubtful: list[Job] = []
        self._second = False

    def finish(self, play: Play) -> None:
        job = play.job
        self.grades[id(job)] = play.grade()
        if play.wounded and not self._second:
            self._wounded.append(job)
            return
        if play.found_in_order:
            self._doubtful.clear()
        self._doubtful.append(job)
        self._on_grade(self.grades[id(job)])

    def to_repeat(self, *, in_order: bool) -> list[Job]:
        """Ends the first round. `in_order`: whether the fork server is, at its end."""
        self._second = True
        return self._wounded if in_order else [*self._doubtful, *self._wounded]


def grade(plan: Plan, *, seed: int | None = None, trust_submissions: bool = False) -> list[Grade]:
    """Grades every job of the plan; one grade each, in order. `seed` repeats an earlier run.

    UsageError where the machine cannot confine strangers' code, unless `trust_submissions`.
    """
    return Grading(plan, seed, trust_submissions=trust_submissions).run()


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
