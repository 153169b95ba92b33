"""One job while it is graded: its process in the sandbox, the evidence so far, and the results of its checks."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from proctorch import wire
from proctorch.bank.question import Check
from proctorch.devices import held
from proctorch.errors import ProctorchError
from proctorch.judge import canary
from proctorch.judge.channel import SandboxBroken
from proctorch.judge.evidence import Ended, Evidence
from proctorch.judge.grade import CheckResult, CopyCount, Grade, MemoryRun, Outcome, Output, Place, Tier, Verdict
from proctorch.judge.integrity import audit
from proctorch.judge.plan import Job, mix_seed
from proctorch.judge.sandbox import Sandbox
from proctorch.judge.spoil import spoilt
from proctorch.judge.submission import Submission
from proctorch.judge.supervise import Process, Stopped
from proctorch.judge.testimony import read_load, read_play, read_prepare, shorten, whereabouts
from proctorch.judge.verdict import Incident, decide

#: After so many scenarios that had to be stopped, the rest of a job is not played: each costs its whole time limit.
_MAX_TIME_OUTS = 2
#: Bytes of all answers of a job: they are kept until its last check is made.
_MAX_ANSWERS = 256 << 20
_MAX_COPIES = 50
#: Bytes of the virtual accelerator where the question sets no budget.
_VIRTUAL_MEMORY = 1 << 30


class NotPlayed(Exception):
    """There is no evidence, and there will be none: the check is NOT_RUN. The text is one line for the candidate."""


class Play:
    """Plays scenarios of one job, each at most once for the same inputs, and keeps account of every planned check."""

    def __init__(self, job: Job, sandbox: Callable[[], Sandbox], secret: int) -> None:
        self.job = job
        self.secret = secret
        #: The limits that the system really holds the job to, in words; known once a process has started.
        self.limits: tuple[str, ...] = ()
        self._sandbox = sandbox
        self._process: Process | None = None
        self._evidence: dict[tuple[str, bytes], Evidence] = {}
        self._received = 0
        self._unloadable: Evidence | None = None
        self._confined = False
        self._held = contextlib.ExitStack()
        #: The sandbox broke while this was played, perhaps by its doing.
        self.wounded = False
        #: A death of the process did the sandbox no harm: it was tried.
        self.found_in_order = False
        self._lines: dict[str, int] = {}
        self._incidents: list[Incident] = []
        self._time_outs = 0
        self._stdout = self._stderr = Output()
        self._began: float | None = None
        self._results: dict[str, CheckResult] = {}
        self._memory: MemoryRun | None = None
        self._copies: dict[tuple[str, str, int | None], tuple[int, int]] = {}

    # ------------------------------------------------------------------------------------------------ evidence

    def evidence(self, scenario: str, inputs: dict[str, Any]) -> Evidence:
        """What playing the scenario gives, played now or earlier. NotPlayed if the job is past being played."""
        key = (scenario, wire.encode(inputs))
        if key not in self._evidence:
            try:
                self._evidence[key] = self._play(scenario, inputs)
            except SandboxBroken:
                self.wounded = True
                raise
        return self._evidence[key]

    def _play(self, scenario: str, inputs: dict[str, Any]) -> Evidence:
        process = self._loaded()
        began, before = time.monotonic(), process.received
        request = {
            "op": "play",
            "scenario": scenario,
            "inputs": inputs,
            "device": self.job.device.torch,
            "budget": self.job.question.budget,
            "seed": mix_seed(self.secret, self.job.question.id, scenario),
        }
        try:
            answer = process.ask(request, self._seconds)
            evidence = read_play(answer, self.job.question.limits, confined=self._confined)
            if self.job.error:
                evidence = replace(evidence, value=spoilt(evidence.value, self.job.error, inputs))
            if evidence.ended is Ended.JUDGE and not self._breaks_by_itself(request):
                evidence = Evidence(Ended.GARBLED, reason="claimed that the grader had broken, which it had not")
        except Stopped as stopped:
            evidence = self._stopped(stopped)
        self._received += process.received - before
        if self._received > _MAX_ANSWERS:
            evidence = Evidence(Ended.GARBLED, reason=f"sent the judge more than {_MAX_ANSWERS >> 20} MiB in all")
        self._observe(evidence)
        return self._noted(replace(evidence, seconds=time.monotonic() - began))

    def _observe(self, evidence: Evidence) -> None:
        """Keeps for the report what was seen of memory and copies."""
        for trace in evidence.traces.values():
            for copy in trace.copies:
                key = (copy.source, copy.target, copy.line)
                count, size = self._copies.get(key, (0, 0))
                self._copies[key] = (count + 1, size + copy.bytes)
        if self.job.question.budget and evidence.moments:
            run = MemoryRun(self.job.question.budget, evidence.moments)
            self._memory = max(self._memory or run, run, key=_telling)

    def _loaded(self) -> Process:
        """A process that has loaded the submission. NotPlayed if none can, or if too much time went already."""
        if self._unloadable:
            raise NotPlayed(f"not run: {self._unloadable.reason}")
        if self.wounded:  # by the code, perhaps: it shall not break the next one too
            raise NotPlayed("not run: the sandbox process broke")
        if self._process and self._process.alive:
            return self._process
        if fault := self.job.submission.fault:
            self._refuse(Evidence(Ended.INVALID, reason=fault))
        if self._time_outs >= _MAX_TIME_OUTS:
            raise NotPlayed(f"not run: the code had been stopped {self._time_outs} times for taking too long")
        self._put_away()
        self._began = self._began or time.monotonic()
        process = self._process = self._started()
        self.limits = process.limits
        try:
            answer = process.ask(self._to_load(self.job.submission), self._seconds)
            evidence, self._lines = read_load(answer, self.job.question, confined=self._confined)
        except Stopped as stopped:
            evidence = self._stopped(stopped, "at import: ")
        if evidence.ended is not Ended.ANSWERED:
            self._refuse(evidence)
        return process

    @property
    def _seconds(self) -> float:
        return self.job.question.limits.seconds

    def _started(self) -> Process:
        """A process with the grader's scenarios, and nothing of the candidate yet."""
        question, device = self.job.question, self.job.device
        budgets = (question.budget or _VIRTUAL_MEMORY,) * question.accelerators
        virtual = budgets if device.type == "virtual" else None
        sandbox = self._sandbox()
        if device.real_accelerator:
            self._held.enter_context(held(device))
            if not canary.in_order(sandbox, device):  # left so by whatever ran there before
                raise SandboxBroken(f"{device} does not give the right answer to a job that is known")
        self._confined = sandbox.strength.tier is not Tier.PROCESS
        process = sandbox.start(question.limits, accelerator=device.real_accelerator, virtual=virtual)
        try:
            answer = process.ask({"op": "prepare", "scenarios": question.scenarios.read_bytes()}, self._seconds)
        except Stopped as stopped:
            raise ProctorchError(f"scenarios.py {stopped.reason}") from None
        if broken := read_prepare(answer):
            process.close()
            self._unloadable = Evidence(Ended.JUDGE, reason=broken.splitlines()[0])
            raise ProctorchError(broken)
        return process

    def _to_load(self, submission: Submission) -> dict[str, Any]:
        question = self.job.question
        return {
            "op": "load",
            "file": submission.path.name,
            "module": submission.module,
            "source": submission.source,
            "helpers": submission.helpers,
            "entry": {
                entry.name: [[each.name, each.default, each.keyword_only] for each in entry.parameters]
                for entry in question.entry
            },
            "seed": mix_seed(self.secret, question.id),
        }

    def _breaks_by_itself(self, request: dict[str, Any]) -> bool:
        """Whether a scenario breaks before it asks for any code of the candidate's: played with the starter instead.

        Who is graded could claim it, since a judge error costs nobody a point.
        """
        self._put_away()
        process = self._started()
        try:
            process.ask(self._to_load(Submission("starter", self.job.question.starter.encode())), self._seconds)
            answer = process.ask(request, self._seconds)
        except Stopped:
            return False
        finally:
            process.close()
        return "raised" in answer and answer.get("touched") is False

    def _refuse(self, evidence: Evidence) -> NoReturn:
        """Notes why the submission cannot be loaded; nothing of it will be played."""
        self._unloadable = evidence
        self._noted(evidence)
        raise NotPlayed(f"not run: {evidence.reason}")

    def _noted(self, evidence: Evidence) -> Evidence:
        if evidence.ended is Ended.JUDGE:
            raise ProctorchError(f"{evidence.reason}\n{evidence.detail}")
        if evidence.ended is not Ended.ANSWERED:
            place, reason = evidence.place, evidence.reason
            reason = f"{self.job.submission.where(place.line)}: {reason}" if place else reason
            self._incidents.append(Incident(evidence.ended.verdict, reason))
        if evidence.ended is Ended.TIMED_OUT:
            self._time_outs += 1
        return evidence

    def _stopped(self, stopped: Stopped, prefix: str = "") -> Evidence:
        if not canary.in_order(self._sandbox(), self.job.device):
            raise SandboxBroken(f"the sandbox does not work since the job's process {stopped.reason}")
        self.found_in_order = True
        return Evidence(
            stopped.ended,
            reason=f"{prefix}{stopped.reason}",
            place=whereabouts(stopped.whereabouts, self.job.submission.path.name),
            detail=stopped.whereabouts,
        )

    # ------------------------------------------------------------------------------------------------ results

    def record(self, check: Check, result: CheckResult) -> None:
        """Notes what became of a check. Of several results (parametrised cases), the worst and earliest counts."""
        order = (Outcome.PASSED, Outcome.NOT_RUN, Outcome.FAILED, Outcome.ERROR)
        before = self._results.get(check.test)
        if before is None or order.index(result.outcome) > order.index(before.outcome):
            self._results[check.test] = result

    def outcome(self, test: str) -> Outcome:
        """What became of a check so far; NOT_RUN if nothing did."""
        result = self._results.get(test)
        return result.outcome if result else Outcome.NOT_RUN

    def counts(self, test: str) -> bool:
        """Whether a check is in the denominator: not one that this machine cannot make."""
        result = self._results.get(test)
        return result is None or result.counted

    def place_of(self, line: int | None) -> Place | None:
        """A line of the candidate's file as a place; without one, the first entry point's `def`, if it is known."""
        if line is not None:
            holders = [(start, name) for name, start in self._lines.items() if start <= line]
            return Place(line, max(holders)[1] if holders else "<module>")
        for entry in self.job.question.entry:
            if entry.name in self._lines:
                return Place(self._lines[entry.name], entry.name)
        return None

    def grade(self) -> Grade:
        """Ends the job and accounts for every planned check: one that nothing is known of is an ERROR, never a pass."""
        try:
            self._put_away()
        except SandboxBroken as broken:  # the answers are in, but what the code has started may live on
            self.wounded = True
            self._incidents.append(Incident(Verdict.JUDGE_ERROR, shorten(str(broken))))
        self._evidence.clear()  # no check will ask for it again, and a plan may have thousands of jobs
        found = (self._results.get(check.test) or _unaccounted(check) for check in self.job.question.checks)
        results = tuple(replace(each, place=self._in_cell(each.place)) for each in found)
        verdict, reason = decide(results, self._incidents)
        seconds = 0.0 if self._began is None else time.monotonic() - self._began
        source = self.job.submission.text
        return Grade(
            question=self.job.question.id,
            submission=str(self.job.submission.path),
            device=self.job.device.name,
            real=self.job.device.real,
            verdict=verdict,
            reason=reason,
            checks=results,
            source=source,
            notes=self.job.submission.notes,
            stdout=self._stdout,
            stderr=self._stderr,
            seconds=seconds,
            memory=self._memory,
            copies=tuple(CopyCount(*which, *how_many) for which, how_many in list(self._copies.items())[:_MAX_COPIES]),
            flags=audit(source),
        )

    def _in_cell(self, place: Place | None) -> Place | None:
        cell = self.job.submission.cell(place.line) if place else ""
        return replace(place, cell=cell) if place and cell else place

    def close(self) -> None:
        """Ends the job's process, if it has one. Idempotent."""
        self._put_away()

    def _put_away(self) -> None:
        with self._held:
            if self._process is None:
                return
            process, self._process = self._process, None
            process.close()
            self._stdout = _joined(self._stdout, process.stdout)
            self._stderr = _joined(self._stderr, process.stderr)


def _telling(run: MemoryRun) -> tuple[bool, int]:
    """The larger, the more there is to see: a failed allocation before a high peak."""
    return any(moment.failed for moment in run.moments), run.peak


def not_run(check: Check, reason: str, *, counted: bool) -> CheckResult:
    """The result of a check that was not made."""
    return CheckResult(check.test, check.title, check.points, Outcome.NOT_RUN, counted=counted, reason=reason)


def _unaccounted(check: Check) -> CheckResult:
    reason = "the grader did not make it"
    return CheckResult(check.test, check.title, check.points, Outcome.ERROR, reason=reason)


def _joined(first: Output, second: Output) -> Output:
    return Output(first.text + second.text, first.cut + second.cut)
