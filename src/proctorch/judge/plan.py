"""A plan: what will be graded, as ordered jobs, known before anything runs."""

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from proctorch import devices
from proctorch.bank.bank import Bank
from proctorch.bank.question import Check, Question
from proctorch.devices import Device
from proctorch.judge.submission import Submission, find_question


@dataclass(frozen=True)
class Job:
    """One submission to one question on one device."""

    question: Question
    submission: Submission
    device: Device
    #: What its hidden inputs are derived from, where it is not the run's own seed.
    seed: int | None = None
    #: The relative error that the floating-point numbers of its evidence get before the checks see them: `verify` tries
    #: whether they notice. Not 0 for a candidate's job.
    error: float = 0.0

    @property
    def skipped(self) -> str | None:
        """Why nothing of it can be graded, or None."""
        reasons = [self.not_asked(check) for check in self.question.checks]
        return reasons[0] if all(reasons) else None

    def not_asked(self, check: Check) -> str | None:
        """Why this check is not made on this device, or None if it is."""
        if reason := devices.unmet(check.device, self.device):
            return reason
        if check.only and self.device.type not in check.only:
            return f"made only on {', '.join(check.only)}; this job runs on {self.device}"
        return None


@dataclass(frozen=True)
class Plan:
    """Jobs in the order in which they are graded: question by question, so that a grader is loaded once."""

    bank: Bank
    jobs: tuple[Job, ...]

    @classmethod
    def build(
        cls,
        bank: Bank,
        submissions: Iterable[Submission],
        *,
        devices: Iterable[Device | str] = (),
        question: Question | None = None,
    ) -> "Plan":
        """All submissions, each on all devices (by default every real one here), for the question given or found.

        A submission is no helper file of another one to the same question, whatever that imports: it is a stranger's.
        UsageError if a device is not here or a submission's question cannot be found.
        """
        chosen = _chosen(tuple(devices))
        pairs = [(question or find_question(bank, each), each) for each in submissions]
        pairs.sort(key=lambda pair: bank.questions.index(pair[0]))
        rivals = {(asked.id, _place(each, each.path.name)) for asked, each in pairs}
        pairs = [(asked, _without_rivals(asked, each, rivals)) for asked, each in pairs]
        return cls(bank, tuple(Job(asked, each, device) for asked, each in pairs for device in chosen))


def _without_rivals(asked: Question, submission: Submission, rivals: set[tuple[str, str]]) -> Submission:
    refused = [name for name, _ in submission.helpers if (asked.id, _place(submission, name)) in rivals]
    if not refused:
        return submission
    helpers = tuple(each for each in submission.helpers if each[0] not in refused)
    notes = tuple(f"{name} is not taken along: it is another submission to this question" for name in refused)
    return replace(submission, helpers=helpers, notes=(*submission.notes, *notes))


def _place(submission: Submission, name: str) -> str:
    """A file beside a submission, in one spelling."""
    return unicodedata.normalize("NFKC", str(submission.path.absolute().parent / name))


def _chosen(wanted: tuple[Device | str, ...]) -> tuple[Device, ...]:
    ready = tuple(each for each in wanted if isinstance(each, Device))
    named = tuple(each for each in wanted if isinstance(each, str))
    return ready if ready and not named else ready + devices.choose(named)


def mix_seed(secret: int, *names: str) -> int:
    """A seed below 2**31 that is fixed by the secret and the names, and cannot be guessed without the secret."""
    mixed = hashlib.sha256("/".join((str(secret), *names)).encode()).digest()
    return int.from_bytes(mixed[:4]) >> 1
